"""Writes records as CUDA C++: host code that does what the Python code did, beside the extensions' own sources.

extensions.py  the sources of the extensions as parts of one file
statements.py  each step as a statement
source.py      the whole file
"""
