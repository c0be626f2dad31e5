"""Windows, selections, scatters.

topk.py     the highest of each row
scatter.py  elements and rows to places of their own
window.py   windows that slide over an image
quad.py     windows of two by two
"""
