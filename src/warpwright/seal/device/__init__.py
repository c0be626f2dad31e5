"""Compiles device code to a cubin.

nvcc.py            runs nvcc, and reads the resources of each kernel
phases.py          runs nvcc's phases one by one, with our preamble between them
preamble.py        selects the part of our headers and the toolkit's that a text uses
header_slices.py   cuts preprocessed headers into declarations
declared_names.py  finds the names that a declaration declares
elf.py             reads symbols and sections of cubins and programs
diagnose.py        turns compile errors into facts, and decides whether the candidate or our headers caused them
torch_names.txt    names of torch's C++ interface, to distinguish gaps in our headers from errors of the candidate
names.py           derives names that both compilers share
"""
