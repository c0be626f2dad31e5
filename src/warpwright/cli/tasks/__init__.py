"""Tasks shown and checked.

tasks.py       `warpwright tasks list|show|check`
contract.py    what `tasks show` prints of one task
admissions.py  running and showing the admission of tasks
"""
