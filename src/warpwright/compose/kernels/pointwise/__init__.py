"""Element by element.

map.py                element by element
horizontal_fusion.py  the same for several counts at once
foreach.py            lists of tensors, many to a launch
"""
