"""Device code: source to cubin.

nvcc.py            nvcc: source to cubin, and what each kernel needs
phases.py          nvcc's own steps, one by one, with our preamble between them
preamble.py        the part of our headers and the toolkit's that a text asks for
header_slices.py   preprocessed headers cut into their declarations
declared_names.py  what a declaration declares
elf.py             symbols and sections of cubins and programs
diagnose.py        compile errors as facts, and whose fault they are
torch_names.txt    names of torch's C++ surface, to tell a gap of ours from a slip of the candidate's
names.py             names that both compilers agree on
"""
