"""Kernels timed.

bench.py      `warpwright bench` and `warpwright compare`
suite.py      a whole suite, on one screen
benchmark.py  problems of KernelBench and robust-kbench, on one screen
options.py    what can be said of judging
bundle.py     `warpwright bundle make|import`
standings.py  judged candidates, on one screen
"""
