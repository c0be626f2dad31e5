"""Windows, selections, scatters.

topk.py     top-k of each row
scatter.py  scatters of elements and rows
window.py   pooling windows over an image
quad.py     2 x 2 max pooling
"""
