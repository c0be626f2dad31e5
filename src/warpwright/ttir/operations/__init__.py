"""The meaning of each operation, by name.

table.py        the table: an operation's function gets the machine, the operation and its operands
arithmetic.py   arith: integers that wrap, floats that are rounded, comparisons, casts
functions.py    math: exponentials, logarithms, roots
libdevice.py    NVIDIA's device functions, by symbol
shapes.py       splat, broadcast, reshape, transpose, join, split, gather, histogram
pointers.py     loads, stores and pointer arithmetic
atomics.py      atomic operations
descriptors.py  tensor descriptors: tiles with bounds
folds.py        reductions and scans with any region
products.py     tt.dot in the precision of tensor cores
control.py      assertions, barriers, calls
"""
