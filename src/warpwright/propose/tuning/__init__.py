"""Tunes the constants that a kernel leaves open.

ranking.py   chooses the settings to try, and ranks them
halving.py   successive halving: finds the best of many settings with few measurements
"""
