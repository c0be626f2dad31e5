"""Room 3, records to numbers: pure functions of what was stored.

standings.py   how a judged candidate stands against its rivals and against physics
"""
