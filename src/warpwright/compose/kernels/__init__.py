"""Kernels, by kind.

index/      Windows, selections, scatters
pointwise/  Element by element
product/    Products of small matrices
reduction/  What reductions share, and reductions over columns
rows/       Reductions over rows
scan/       Running sums
steps.py    each group of a schedule becomes kernels or a library call
"""
