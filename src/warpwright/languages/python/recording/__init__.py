"""Runs a candidate's Python code in the sandbox and reads its records.

process.py     one process, and the questions that it asks
extensions.py  builds the extensions that the code loads
observing.py   the calls of several processes, compared
"""
