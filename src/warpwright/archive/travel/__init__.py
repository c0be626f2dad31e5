"""A run as a file.

run_file.py     writes a run as JSON lines, exactly, and imports it
arrival.py      reads and checks such a file
whole_files.py  writes files atomically
"""
