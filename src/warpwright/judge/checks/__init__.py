"""Whether a candidate is right.

reference_workers.py  truths of small draws, many at a time
reference_cache.py    what is true of each draw, computed once and kept
examine.py            whether a candidate is right
quick_check.py        whether a timed result looks right, at a fraction of the price of the full truth
"""
