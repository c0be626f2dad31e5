"""Lowers ATen operations to values.

lower.py      ATen operations become values
pointwise.py  element by element
shape.py      views, selections, reductions
library.py    products, convolutions, scans, updates in place
norm.py       normalisation over a batch
selection.py  windows, selections, scatters
"""
