"""A run as a file.

run_file.py     a run written as a file of JSON lines, exact, and taken in again
arrival.py      such a file, read and checked
whole_files.py  files that are there whole or not at all
"""
