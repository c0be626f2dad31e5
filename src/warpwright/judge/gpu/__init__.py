"""The CUDA driver, device memory, and launch plans replayed.

driver.py            the CUDA driver: modules, functions, launches, copies
module.py            a loaded cubin: kernels by demangled name, device variables that can be restored
memory.py            the buffers of a plan, and tensors as windows on them
arena.py             device memory shared by two processes, with red zones
free_memory.py       returns unused memory to the card
precision.py         whether torch's own products may round to tf32
peak_memory.py       device memory that a call needs at its peak
replay.py            launches a plan on buffers of the judge
torch_operations.py  runs the torch operations that a plan names
"""
