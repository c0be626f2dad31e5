"""Room 1, cpp: C++ text as tokens.

tokens.py        C++ text as tokens, nothing lost
editing.py       text with tokens replaced in place; launches as plain calls
declarations.py  where a function's name, parameters and body are
"""
