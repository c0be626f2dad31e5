"""The room emulate: runs candidates on the CPU, thread by thread, under a checker of CUDA's rules.

emulating.py    the library call `emulate`
emulation.py    its result
examination.py  runs every draw in several orders and compares results with the oracle's truth
spot_checks.py  a few blocks of sizes that are too large to run whole
conclusion.py   decides what refutes, what is a warning, and what is undecided
cases.py        chooses edge cases of a kernel: sizes just below and above its blocks, warps, vectors and tiles
truths.py       caches inputs and truths of draws
staging.py      turns a draw into calls, and their outputs into tensors
report.py       reads the program's report as hostile data
findings.py     describes findings, once for each kind and line
runtime/        C++: fibers, memory, the checker; contract.md specifies the interface
cost/           the cost model: predicts the time of a kernel on a GPU
program/        builds and runs the emulated program
"""
