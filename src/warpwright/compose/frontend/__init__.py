"""Lowers a PyTorch function to a graph of values.

trace.py           traces the function to a graph of ATen operations over named sizes
size_functions.py  replaces torch functions that convert sizes to numbers
given_names.py     reads the names of values in the reference
lowering/          lowers ATen operations to values
"""
