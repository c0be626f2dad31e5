"""Kernels with their formula changed, or written otherwise.

changes.toml  the changes
changes.py    applies them
accepts.py    what other comparisons accept
"""
