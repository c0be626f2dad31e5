"""Whether a candidate's results are right.

examine.py            runs every draw twice and compares results, inputs and red zones
quick_check.py        compares a timed result with one run of the reference; cheap, and only ever clears
reference_cache.py    inputs and expected values of each draw, computed once
reference_workers.py  CPU processes that compute expected values of small draws
"""
