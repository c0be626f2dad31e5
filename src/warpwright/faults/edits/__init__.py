"""The places where a fault of each kind can be planted in a source, with the replacement.

arithmetic.py  another operation, function or constant
bounds.py      loops, guards and grids that are off
indices.py     subscripts that name another element
values.py      sums that start wrong, lose terms or are rounded coarsely
threads.py     threads that do not wait for each other
behaviour.py   kernels that behave well only where they expect to be watched
"""
