"""The room cpp: C++ text as tokens.

tokens.py        a lossless tokeniser
editing.py       replaces tokens in place; turns launches into plain calls
declarations.py  finds a function's name, parameters and body
"""
