"""Kernels, by kind. Each kind is a strategy: where it applies and at what cost, its knobs, and how it is written.

strategy.py  what a strategy is
registry.py  which strategies serve a site, and the knobs that follow
site.py      positions in a schedule where kernels are needed
writing.py   what a strategy may ask of the writer of an entry point
steps.py     the writer: strategies turn each group into kernels or a library call
index/       Windows, selections, scatters
library.py   Library calls
pointwise/   Element by element
product/     Products of small matrices
reduction/   What reductions share, and reductions over columns
rows/        Reductions over rows
scan/        Running sums
"""
