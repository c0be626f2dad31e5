"""Room 3, where work runs.

pool.py          the cores of this machine
sealed_jobs.py   candidates to jobs: sealed, with hidden cases drawn
local.py         the GPU of this machine
bundle.py        a folder that is carried to a GPU elsewhere, and the records that come back
"""
