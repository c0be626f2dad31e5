"""Passes over statements.

fast_math.py  approximations take the place of functions
again.py      declarations become assignments
order.py      statements that need not wait for a name come first
"""
