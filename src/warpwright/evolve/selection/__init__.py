"""Who breeds.

population.py  who is right, how good, and whose variant it is
parents.py     adaptive sampling of parents
context.py     what a writer is shown besides the parents
hints.py       which hint a writer gets
bandit.py      which model is asked, and how hard it shall think
specialise.py  kernels that win on different shapes, to be merged
configs.py     neighbours and mixtures of genomes
"""
