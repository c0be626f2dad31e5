"""Compares results with expected values.

elements.py  whether a tensor is correct, element by element
distance.py  which of two results has the larger error
results.py   a whole result: the number of tensors and their contents
pieces.py    a large draw, checked in pieces along its batch
explain.py   describes where and how a tensor is wrong
"""
