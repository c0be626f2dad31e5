"""The room dispatch: runs work on the CPU cores and the GPU of this machine, or sends it to a GPU elsewhere.

pool.py         a function of many items on the CPU cores of this machine
ordered_map.py  a function of many items at once, results in order
evaluating.py   measures candidates on the GPU here or on one elsewhere
predicting.py   predicts their times without a GPU
sealed_jobs.py  turns candidates into jobs: seals them and draws hidden cases
local.py        the GPU of this machine
bundle.py       a folder of jobs for a GPU elsewhere, and the results it returns
"""
