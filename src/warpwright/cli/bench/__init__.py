"""Kernels timed.

bench.py      `warpwright bench` and `warpwright compare`
suite.py
bundle.py     `warpwright bundle make|import`
standings.py  judged candidates, on one screen
watching.py   what NVIDIA's tools see of a candidate
"""
