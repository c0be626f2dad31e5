"""Kernels checked, sealed and timed.

check.py      one kernel or many, without a GPU
documents.py  checked kernels as a page and as JUnit XML
prove.py      whether a kernel computes the formula of its reference
export.py     a kernel in a form that other programs use, with its evidence
seal.py       device code and launch plans
bench.py      one kernel, or several in turns, on this machine's GPU
suite.py      a whole suite of ours
collections.py  problems of KernelBench and robust-kbench, loaded from the user's folders
benchmark.py  such a collection checked and timed as one run that can be stopped and resumed
bundle.py     kernels packed for a GPU that lives elsewhere
watching.py   profiles and sanitizers
"""
