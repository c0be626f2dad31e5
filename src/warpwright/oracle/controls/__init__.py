"""Wrong and honest implementations that a task is tried on.

tampering.py  runs the reference with one operation left out
wrong.py      wrong results that a robust task must refute
honest.py     right results, computed otherwise, that it must not
"""
