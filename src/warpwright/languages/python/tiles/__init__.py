"""Records with kernels that Python code compiled itself: sealed as they are, and run on the CPU tile by tile.

sealing.py   a record becomes a launch plan, beside the cubins that were compiled
memory.py    the memory of one call: buffers at fake addresses, and operations of torch on them
running.py   carries out a record, launch by launch
runner.py    the calls of an examination: each is recorded for its sizes, then carried out
reporting.py findings of kernels in the words of the emulator
"""
