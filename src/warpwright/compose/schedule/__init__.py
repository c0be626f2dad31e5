"""Which values are left in memory, and which kernel leaves them there.

groups.py      groups: the values that one kernel computes and stores
row_shapes.py  shapes of rows that decide between kinds of kernels
entry.py       entry points with their schedules
"""
