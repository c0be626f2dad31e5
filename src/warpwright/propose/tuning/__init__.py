"""Tunes the constants that a kernel leaves open.

tunables.py  reads the constants that a source leaves to a tuner, and sets them
ranking.py   chooses the settings to try, and ranks them
halving.py   successive halving: finds the best of many settings with few measurements
"""
