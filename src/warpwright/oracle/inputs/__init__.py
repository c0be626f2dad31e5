"""The inputs of a draw.

generator.py      counter-based random integers, bit-identical on every machine and device
distributions.py  named recipes that turn those integers into inputs and parameters
arguments.py      the arguments of one draw, laid out as the case says
storage.py        tensors as the bytes they occupy
draws.py          which draws a task is checked on
"""
