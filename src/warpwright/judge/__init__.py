"""Room 2, sealed kernels on the GPU. Travels to the GPU machine: standard library, torch, and the driver by ctypes.

driver.py    the CUDA driver: modules, functions, launches, copies
module.py    a cubin in the context: kernels by demangled name, globals that can be put back
memory.py    buffers of a plan and tensors as windows on them
library.py   operations of torch that a plan names, executed by us
replay.py    a plan, launched with our own buffers
"""
