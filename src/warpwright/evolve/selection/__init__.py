"""Selects parents, hints, models and settings.

population.py  the correct candidates, their scores, and their variants
parents.py     samples parents by score and number of children
context.py     selects kernels that a prompt shows besides the parents
hints.py       selects the hint of a prompt
bandit.py      selects the model to ask, and its effort
specialise.py  selects kernels that are fastest on different shapes, to merge them
configs.py     mutates and crosses configs
"""
