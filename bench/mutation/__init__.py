"""How many of the faults planted in correct kernels the emulator finds.

originals.py  the correct kernels, each with the fates of its mutants
survey.py     the fate of a mutant: refuted, proved equivalent, survived or undecided
"""
