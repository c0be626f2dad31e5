"""Kernels timed.

bench.py      `warpwright bench` and `warpwright compare`
suite.py      prints the results of a whole suite
benchmark.py  prints the results of KernelBench and robust-kbench problems
options.py    options for judging
bundle.py     `warpwright bundle make|import`
standings.py  prints judged candidates
"""
