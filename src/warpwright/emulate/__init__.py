"""Room 2, emulate: candidates run on the CPU, thread by thread, under a checker that knows CUDA's rules.

emulating.py    emulate: the library call
emulation.py    what it gives back
examination.py  every draw in several orders, held against the oracle's truth
conclusion.py   what refutes, what is only worth a warning, what cannot be told
cases.py        the sizes that hurt one kernel: just below and above its blocks, warps, vectors and tiles
truths.py       inputs and truth of draws, from the store where they are there
staging.py      a draw as calls, and what came back as tensors
report.py       what it reports; read as hostile data
findings.py     what is wrong, once for each kind and line, in words
runtime/        C++: fibers, memory, the checker; its contract.md says how all this fits together
cost/           The cost model: how long a kernel would take on a GPU
program/        The emulated program: built and run
"""
