"""Tasks shown and checked.

tasks.py       `warpwright tasks list|show|check`
contract.py    prints one task for `tasks show`
admissions.py  prints admissions of tasks
"""
