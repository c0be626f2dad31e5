"""Which values are left in memory, and which kernel leaves them there.

groups.py      groups: the values that one kernel computes and stores
row_shapes.py  shapes of rows against the target
knobs.py       knobs: the choices that a kind of kernel leaves open
entry.py       entry points with their schedules
"""
