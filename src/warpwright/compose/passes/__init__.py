"""Rewrites of the graph.

unit_dims.py      entry points for products with a single row, images with a single channel, single samples
saved_tensors.py  training pairs: what a forward pass leaves for its backward pass
long_sums.py      sums over long rows, written so that these are read less often
shared_factor.py  which products share it, and what is left beside them
"""
