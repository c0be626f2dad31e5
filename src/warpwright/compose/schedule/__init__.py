"""Decides which values are stored, and which kernel stores them.

groups.py      groups: the values that one kernel computes and stores
spaces.py      iteration spaces, and where a kernel needs each reduction
row_shapes.py  shapes of rows against the target
knobs.py       knobs: the choices that a kind of kernel leaves open
entry.py       entry points with their schedules
"""
