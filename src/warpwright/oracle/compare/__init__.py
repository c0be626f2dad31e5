"""Results against expected values.

elements.py  whether a result is right, element by element
distance.py  which of two results is farther from the truth
results.py   a whole result: count, contents, and what was done to memory
pieces.py    a large draw, checked in pieces along its batch
explain.py   where and how it is wrong, in words
"""
