"""The sizes of a function: which may change, what a CPU can check in place of the given ones, and what they cost.

sizing.py     which sizes may be smaller
shrinking.py  small cases with these sizes, and reductions of the given ones
working.py    the least work of a call, counted from the operations that torch runs
"""
