"""C++ statements that know the names they read.

text.py         expressions: text with the names it reads and the functions it calls
statements.py   statements, from a declaration to a kernel launch
traversal.py    every expression of a statement, and the same statement with other ones
printer.py      statements become lines
definitions.py  functions with their bodies
passes/         passes over statements
"""
