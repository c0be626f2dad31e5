"""Values, sizes and indices.

values.py   what a function computes, as a graph of values, each made once
sizes.py    sizes: formulas, compared by what they are worth in every case
indices.py  where an element lies, and how that moves within a pack
"""
