"""Room 3, where work runs.

pool.py     the cores of this machine
bundle.py   a folder that is carried to a GPU elsewhere, and the records that come back
"""
