"""Host code: run once, its launches recorded.

program.py    g++ and the sandbox: the capture program, built and run
front.py      preprocessed CUDA to C++ that records its launches
front.h       what is precompiled for capture programs
calls.py      what a capture program is asked
traced.py     the words of what it answers
trace.py      its answer read as hostile data
observe.py    the same call under several address spaces, processes and orders
"""
