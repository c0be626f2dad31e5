"""Runs a user's file in a child process to find out what it does.

probe.py  starts the child process, with a time limit
seen.py   messages between the two
child/    the child process: runs the file on tensors without data and describes what it observes
"""
