"""Room 2, emulate: candidates run on the CPU, thread by thread, under a checker that knows CUDA's rules.

emulating.py    emulate: the library call
emulation.py    what it gives back
examination.py  every draw in several orders, held against the oracle's truth
conclusion.py   what refutes, what is only worth a warning, what cannot be told
cases.py        the sizes that hurt one kernel: just below and above its blocks, warps, vectors and tiles
truths.py       inputs and truth of draws, from the store where they are there
staging.py      a draw as calls, and what came back as tensors
counting.py     what a candidate does on a case too large to run here: a few blocks, counted and scaled
cost.py         the time it would take on a GPU: a prediction, never a measurement
cost_terms.py   what each resource takes
cost_nodes.py   library operations, fills and copies
cost_twin.py    a smaller case that is launched alike
cost_constants.py      what the model takes as given
cost_calibrated.json   those of them that were fitted to measurements
calls.py        what an emulated program is asked
running.py      the program in the sandbox: calls in, reports and bytes out
report.py       what it reports; read as hostile data
findings.py     what is wrong, once for each kind and line, in words
instructions.py instructions by type, from passes over basic blocks and the disassembly
lines.py        which line an address belongs to
build.py        the program: compiled with instrumentation, linked with our runtime
compilers.py    g++ and clang++: how each is asked
front.py        preprocessed CUDA to C++ whose kernels run
shared.py       declarations of shared memory
runtime         C++: fibers, memory, the checker; its contract.md says how all this fits together
"""
