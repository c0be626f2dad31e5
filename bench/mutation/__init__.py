"""Mutants: correct kernels with a planted bug, to measure verifiers.

mutants.py    builds mutants of a source
mutations.py  finds where each kind of bug can be planted
survey.py     how many planted bugs the emulator finds
"""
