"""Common parts of reductions, and reductions over columns.

passes.py            assigns reductions over a row to passes
accumulators.py      the accumulators of a thread
welford.py           device functions for mean and variance
columns.py           column sums over the leading dimensions
strided.py           reductions over dimensions that lie in front of others
lanes.py             their accumulators, one for each lane of a pack
rows_and_columns.py  reductions over rows and columns in one kernel
"""
