"""Kernels checked, sealed and composed.

check.py       `warpwright check`
verifiers.py   `warpwright verifiers evaluate|tune`
verdicts.py    prints verdicts
candidates.py  options that select a candidate
prove.py       `warpwright prove`
export.py      `warpwright export`
seal.py        `warpwright seal`
compose.py     `warpwright compose`
"""
