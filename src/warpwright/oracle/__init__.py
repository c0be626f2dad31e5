"""Room 1, what "right" means: inputs from seeds, an fp64 truth, an error budget, a comparator, controls.

compare/   Results against expected values
controls/  Wrong and honest implementations that a task is tried on
inputs/    The inputs of a draw
truth/     The expected values and their error budget
"""
