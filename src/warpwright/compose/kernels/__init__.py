"""Writes kernels, by kind.

index/      Windows, selections, scatters
pointwise/  Elementwise kernels
product/    Products of small matrices
reduction/  Common parts of reductions, and reductions over columns
rows/       Reductions over rows
scan/       Running sums
steps.py    writes each group of a schedule as kernels or a library call
"""
