"""Merges several kernels into one source.

merge.py  merges kernels that are fastest on different shapes
parts.py  takes one source apart for merging
rule.py   decides which part runs for which arguments
"""
