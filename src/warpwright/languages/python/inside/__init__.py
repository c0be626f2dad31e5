"""Code that runs in the sandbox, in the process of a candidate.

__main__.py    reads the order and sends the answers
session.py     one process: the candidate is constructed once and called on every case
recorder.py    the steps of all calls, and the memory that tensors lie in
tensors.py     sees each operation of torch, on tensors that have no data
canonical.py   the form of an operation that a plan names
functions.py   functions that are seen before torch takes them apart
device.py      torch.cuda without a GPU
extensions.py  C++ extensions, whose functions run in capture programs
triton_launches.py  Triton without a GPU: kernels are compiled for the target, and launches recorded
modules.py     which argument of the task each tensor of a module is
dependence.py  the part of the steps on which a call depends
outcomes.py    how a call can end besides returning
guard.cpp      the device itself, for torch's C++ code
"""
