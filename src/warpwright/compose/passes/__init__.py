"""Rewrites the graph.

unit_dims.py      entry points for products with a single row, images with a single channel, single samples
saved_tensors.py  the tensors that a forward pass saves for its backward pass
long_sums.py      rewrites sums over long rows to read these less often
"""
