"""The room faults: right kernels with one planted fault each, to measure verifiers.

text.py       edits of CUDA source, and where they can be made
edits/        the kinds of faults
mutants.py    every fault of a source, by class and kind
context.py    what only a task tells of a source: parameters that are an identity by default, grids that are checked
running.py    a program run on staged draws, whatever else the emulator finds
witness.py    an input on which a fault gives a wrong result
corpus.py     a folder of labelled faults with their witnesses
published.py  the checks of published benchmarks, repeated on the emulator
"""
