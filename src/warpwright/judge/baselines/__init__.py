"""PyTorch's own implementations, timed in processes of their own.

process.py     the process that compiles, captures and times baselines
pool.py        one process for each baseline
timed.py       one baseline, timed in its process
precompile.py  compiles baselines ahead, many at a time
"""
