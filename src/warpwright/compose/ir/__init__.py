"""Values, sizes and indices.

operations.py  the operations that values are the results of, with typed attributes
values.py      the graph of values that a function computes, each made once
sizes.py       sizes: formulas, compared by their values in all cases
indices.py     where an element lies, and how that moves within a pack
tensors.py     tensors in memory, and which values are stored in them
naming.py      names that C++ and our kernels leave free, and words for what has none
wording.py     what values are called: by these names, or in words for what they are
"""
