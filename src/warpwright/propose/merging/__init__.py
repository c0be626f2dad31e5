"""Several kernels merged into one source.

merge.py         kernels that win on different shapes, merged into one source
specialising.py  kernels merged by what each scored on each shape
parts.py         one source taken apart for merging
rule.py          which part runs for which arguments
"""
