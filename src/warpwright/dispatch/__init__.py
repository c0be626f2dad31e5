"""Room 3, where work runs.

pool.py         the cores of this machine
crew.py         many answers waited for at once
evaluating.py   how good candidates are: on the GPU here, or on one elsewhere
predicting.py   how good they would be, where there is no GPU
sealed_jobs.py  candidates to jobs: sealed, with hidden cases drawn
local.py        the GPU of this machine
bundle.py       a folder that is carried to a GPU elsewhere, and the records that come back
"""
