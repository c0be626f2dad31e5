"""GPUs.

table.py  peaks, limits of each architecture, and sources
limit.py  the physical limit of a piece of work on a GPU
"""
