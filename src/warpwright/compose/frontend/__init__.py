"""From a PyTorch function to a graph of values.

trace.py           the function as a graph of ATen operations over named sizes
size_functions.py  functions of torch that would take a size for a number
given_names.py     names that the reference gives
lowering/          ATen operations become values
"""
