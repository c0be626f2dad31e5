"""Kernels checked, sealed and composed.

check.py       `warpwright check`
checking.py    one kernel or many, each held against its own task
documents.py   what was checked, as a page and as JUnit XML
verifiers.py   `warpwright verifiers evaluate|tune`
opinions.py    opinions of models on labelled kernels
verdicts.py    what rungs said, in words
candidates.py  a candidate from the command line: file, task, flags
seal.py        `warpwright seal`
compose.py     `warpwright compose`
"""
