"""Builds and runs the emulated program.

build.py         compiles the program with instrumentation and links it with our runtime
compilers.py     the command lines of g++ and clang++
front.py         rewrites preprocessed CUDA to C++ whose kernels run on the CPU
lifting.py       rewrites preprocessed CUDA to compute in lifted numbers
shared.py        parses declarations of shared memory
lines.py         finds the source line of an address
calls.py         writes the requests to an emulated program
runner.py        what an examination runs: a program, or another way to run a candidate
running.py       runs the program in the sandbox and reads its reports and outputs
"""
