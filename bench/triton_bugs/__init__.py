"""Planted bugs: right Triton kernels, sixty changes to them, and how many of those the interpreter of TTIR finds.

kernels/       the kernels
specimens.py   arguments, grids and expected results of each kernel
compiling.py   TTIR of a kernel for given arguments
checking.py    runs a kernel on all its cases, in both orders of programs
bugs.py        the changes, by kind
"""
