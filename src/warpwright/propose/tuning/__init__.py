"""Open constants of a kernel.

tunables.py  constants that a source leaves open for a tuner
ranking.py   which settings are tried, and who of them is best
halving.py   which of many settings is best, found with few measurements
"""
