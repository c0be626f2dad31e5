"""Runs host code once and records its launches.

program.py    builds the capture program with g++ and runs it in the sandbox
front.py      rewrites preprocessed CUDA to C++ that records its launches
front.h       the precompiled header of capture programs
calls.py      writes the requests to a capture program
traced.py     the types of a trace
trace.py      reads a trace as hostile data
observe.py    repeats a call under several address spaces, processes and orders
"""
