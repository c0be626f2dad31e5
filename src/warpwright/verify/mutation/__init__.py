"""Planted bugs, to measure verifiers with.

mutants.py    correct kernels with one planted bug, to measure verifiers with
mutations.py  where each kind of bug can be planted
survey.py     how many planted bugs the emulator finds
"""
