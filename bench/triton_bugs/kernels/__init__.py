"""Kernels, right as they stand.

rows.py     softmax, norms, cross entropy, running sums
tiles.py    products, attention, transposes, sums of columns
points.py   rotary embedding, dropout, histograms, strided copies, descriptors
"""
