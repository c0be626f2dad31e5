"""Products of small matrices.

small.py         products of small matrices, along the rows of both
tile.py          products of small matrices that share their first factor
first_factor.py  how that is read, or computed where it is read
"""
