"""The GPU by its driver.

driver.py            the CUDA driver: modules, functions, launches, copies
module.py            a cubin in the context: kernels by demangled name, globals that can be put back
free_memory.py       the card's memory, which many share
memory.py            buffers of a plan and tensors as windows on them
precision.py         what torch's own products may round to
torch_operations.py  operations of torch that a plan names, executed by us
replay.py            a plan, launched with our own buffers
arena.py             device memory that two processes see, with red zones
"""
