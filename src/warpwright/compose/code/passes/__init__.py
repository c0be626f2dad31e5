"""Passes over statements.

fast_math.py            approximations take the place of functions
programmatic_launch.py  kernels start before the one before them has ended
headers.py              headers and functions that are needed
again.py                declarations become assignments
order.py                statements that need not wait for a name come first
"""
