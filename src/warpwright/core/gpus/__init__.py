"""GPUs: their table and the physical limit.

table.py  the table of GPUs: peaks, limits of each architecture, sources
limit.py  the physical limit of a piece of work on a GPU
"""
