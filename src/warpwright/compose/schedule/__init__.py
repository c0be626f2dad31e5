"""Which kernel computes what.

groups.py         which values are left in memory, and which kernel leaves them there
steps.py          each group of the schedule becomes kernels or a call
product_steps.py  the steps that are small products
"""
