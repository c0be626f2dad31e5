"""What a user's file does, found out in a child process.

probe.py  asks a child process what a user's file does, and waits no longer than it should
seen.py   the words between the two
child/    what that child does: runs the file on tensors without data and writes down what it sees
"""
