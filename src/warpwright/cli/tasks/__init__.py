"""Tasks shown and checked.

tasks.py       `warpwright tasks list|show|check`
contract.py    what `tasks show` prints of one task
admissions.py  admissions of tasks, on one screen
"""
