"""The room search: runs from their settings to the last decision.

line.py           the straight line: read this first
run.py            the steps of the line, each of which does what the records of a run still lack
services.py       models, composer, ladder and evaluator that a run uses
tuning.py         tuning the constants of one kernel, as a policy of the line
wiring.py         builds these objects from settings
settings.py       the user's settings, stored with the run
known_kernels.py  the kernels of a run with their scores, for prompts
"""
