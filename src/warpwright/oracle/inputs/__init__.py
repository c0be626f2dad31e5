"""The inputs of a draw.

generator.py      counter-based random integers, bit-identical on every machine and device
distributions.py  named recipes that turn those integers into inputs and parameters
arguments.py      the arguments of one draw, in the layout of the case
storage.py        tensors as bytes
draws.py          the draws on which a task is checked
published.py      inputs and tolerances of published checks, to compare with
"""
