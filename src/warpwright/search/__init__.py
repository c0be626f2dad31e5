"""Room 6, search: a run, from settings to its last decision.

run.py
services.py
tuner.py
wiring.py
settings.py
known_kernels.py
"""
