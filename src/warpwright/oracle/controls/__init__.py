"""Wrong and honest implementations that a task is tested with.

tampering.py  runs the reference without one of its operations
wrong.py      wrong results that a robust task must refute
honest.py     correct results, computed differently, that it must accept
fitness.py    the few of these questions that are asked before every check
"""
