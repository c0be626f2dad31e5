"""Products of small matrices.

small.py         small products of factors that are contiguous along the inner dimension
tile.py          tiled small products that share their first factor
first_factor.py  reads or computes the shared first factor
shared_factor.py finds products that share their first factor
steps.py         writes the groups of a schedule that are small products
"""
