"""Elementwise kernels.

map.py                elementwise kernels
horizontal_fusion.py  elementwise kernels of several sizes in one launch
foreach.py            lists of tensors, many per launch
"""
