"""Runs Triton's own IR (TTIR) on a CPU: text and arrays in, arrays and findings out. Needs numpy, not Triton.

running.py      a launch: every program of a grid, in batches along a leading axis, forward or in reverse
plain.py        buffers and arguments from plain bytes, for rooms without numpy
writing.py      which pointer arguments of a kernel may be written through
machine.py      regions, loops, branches and calls of one batch of programs
numbers.py      element types as numpy keeps them, and their rounding
findings.py     what is wrong: kind, Python line, program
syntax/         TTIR as a tree: types, operations, regions, locations
memory/         buffers at fake addresses: bounds, first writes, races between programs
operations/     the meaning of each operation; one that is missing makes the run undecided and is named
"""
