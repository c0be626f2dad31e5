"""What reductions share, and reductions over columns.

passes.py            which reductions over a row share a pass
accumulators.py      what a thread carries along a row for each of them
welford.py           those for means and spreads
columns.py           columns: sums over the leading dimensions
rows_and_columns.py  rows and columns at once
"""
