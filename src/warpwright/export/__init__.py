"""The room export: a verified kernel in the forms that other programs use. A form is a module with a `files` function.

forms.py        which forms there are
kernelbench.py  a Python file with `class ModelNew`, as KernelBench evaluates it
"""
