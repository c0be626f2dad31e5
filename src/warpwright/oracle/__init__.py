"""The room oracle: inputs from seeds, expected values in fp64, error budgets, a comparator, and controls.

compare/   compares results with expected values
controls/  wrong and honest implementations that a task is tested with
inputs/    the inputs of a draw
truth/     expected values and their error budget
"""
