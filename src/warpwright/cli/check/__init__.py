"""Kernels checked, sealed and composed.

check.py       `warpwright check`
verifiers.py   `warpwright verifiers evaluate|tune`
verdicts.py    what rungs said, on a screen
candidates.py  options that say which candidate is meant
seal.py        `warpwright seal`
compose.py     `warpwright compose`
"""
