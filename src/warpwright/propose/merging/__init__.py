"""Merges several kernels into one source.

merge.py         merges kernels that are fastest on different shapes
specialising.py  merges kernels by their scores on each shape
parts.py         takes one source apart for merging
rule.py          decides which part runs for which arguments
"""
