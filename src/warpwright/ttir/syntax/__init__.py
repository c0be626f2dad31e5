"""TTIR as a tree.

tree.py         module, function, block, operation
types.py        types of values
locations.py    the Python line that an operation comes from
scanner.py      characters to words
attributes.py   attribute dictionaries
parsing.py      text to tree
structured.py   functions and operations whose syntax is their own: loops, branches, constants
"""
