"""Benchmarks of many problems, such as KernelBench: figures, files in the formats of their own tools, and a page.

figures.py  one row for each problem, and totals for each level
formats.py  rows as CSV and in KernelBench's result format
page.py     rows and totals as one HTML page
"""
