"""C++ text.

arithmetic.py           writes each elementwise operation in CUDA C++
tensors.py              the parameters of kernels
emit.py                 emits the statements of one kernel for values
loads.py                loads of elements and packs, and names
eight_bits.py           8-bit floats
kernel.py               the parts that all kinds of kernels share
host.py                 the host side of an entry point
library.py              library calls, and tensors as views of others
program.py              a whole source
preamble.py             device functions that kernels share
joins.py                device functions that join what threads have found
wrapping.py             wraps long lines
"""
