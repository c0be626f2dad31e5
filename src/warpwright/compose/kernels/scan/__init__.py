"""Running sums.

scan.py       running sums
look_back.py  running sums along few long rows by decoupled look-back
"""
