"""The emulated program: built and run.

build.py         the program: compiled with instrumentation, linked with our runtime
compilers.py     g++ and clang++: how each is asked
front.py         preprocessed CUDA to C++ whose kernels run
shared.py        declarations of shared memory
lines.py         which line an address belongs to
instructions.py
calls.py         what an emulated program is asked
running.py       the program in the sandbox: calls in, reports and bytes out
"""
