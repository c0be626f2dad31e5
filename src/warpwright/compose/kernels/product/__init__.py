"""Products of small matrices.

small.py         products of small matrices, along the rows of both
tile.py          products of small matrices that share their first factor
first_factor.py  how that is read, or computed where it is read
shared_factor.py which products share it, and what is left beside them
strategies.py    where small products have a launch of ours
"""
