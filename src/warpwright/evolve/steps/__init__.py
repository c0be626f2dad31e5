"""The steps of a decision.

repair.py      requests repairs of refuted candidates
queue.py       selects candidates to evaluate
tuning.py      tries other constants of a new best candidate
reflecting.py  asks a model for a lesson from the results
opening.py     requests the first correct candidate
breeding.py    requests the next generation from language models
composing.py   requests the next generation from the composer
"""
