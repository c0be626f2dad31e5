"""Room 6, search: runs from their settings to the last decision.

run.py            a search run: decide, propose, verify, evaluate, record
services.py       models, composer, ladder and evaluator that a run uses
tuner.py          tunes the constants of one kernel
wiring.py         builds these objects from settings
settings.py       the user's settings, stored with the run
known_kernels.py  the kernels of a run with their scores, for prompts
"""
