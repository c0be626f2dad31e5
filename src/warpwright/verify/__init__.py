"""Room 3, verify: whether a candidate may go on, and whether a task may judge one.

ladder.py      climb: the rungs in order, up to the first that refutes
source.py      rung: is it a source at all
seal.py        rung: does it compile, is its host code a pure plan, would the driver launch it
admission.py   whether a task refutes what is wrong and accepts what is right
"""
