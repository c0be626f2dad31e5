"""Room 3, where work runs.

pool.py   the cores of this machine
"""
