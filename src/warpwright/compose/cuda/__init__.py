"""C++ text.

arithmetic.py           how each operation is written in CUDA C++
tensors.py              what kernels are given
emit.py                 values become statements of one kernel
eight_bits.py           floats of eight bits
kernel.py               what every kind of kernel has in common
host.py                 the host side of an entry point
library.py              library calls, and tensors as views of others
program.py              a whole source
preamble.py             device functions that kernels share
joins.py                device functions that join what threads have found
wrapping.py             long lines, broken
"""
