"""Room 3, verify: whether a candidate may go on, and whether a task may judge one.

ladder.py      climb: the rungs in order, up to the first that refutes
source.py      rung: is it a source at all
seal.py        rung: does it compile, is its host code a pure plan, would the driver launch it
emulate.py     rung: is it right on the CPU, under the eyes of the emulator
library.py     operations of torch within an emulated call
evaluation.py  verdicts against a labelled set
admission.py   whether a task refutes what is wrong and accepts what is right
mutation/      Planted bugs, to measure verifiers with
opinion/       Rung: what language models think
"""
