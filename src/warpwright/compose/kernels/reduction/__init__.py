"""Common parts of reductions, and reductions over columns.

passes.py            assigns reductions over a row to passes
accumulators.py      the accumulators of a thread
welford.py           device functions for mean and variance
columns.py           column sums over the leading dimensions
rows_and_columns.py  reductions over rows and columns in one kernel
"""
