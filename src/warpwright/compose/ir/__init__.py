"""Values, sizes and indices.

operations.py  the operations of values, with typed attributes
values.py      the graph of values that a function computes, hash-consed
sizes.py       sizes: formulas, compared by their values in all cases
index_code.py  index expressions in C++
operands.py    follows indices through the graph, from an element to its operands
indices.py     index expressions of elements, and their motion within a pack
tensors.py     tensors in memory, and which values are stored in them
naming.py      free names in C++, and words for unnamed values
wording.py     names of values: from the reference, or descriptive
"""
