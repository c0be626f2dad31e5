"""The cost model: predicts the time of a kernel on a GPU.

model.py         combines the terms to a prediction, which is never a measurement
terms.py         the time that each resource takes
nodes.py         the terms of library operations, fills and copies
twin.py          scales a case down such that it is launched in the same way
constants.py     the constants of the model
calibrated.json  the constants that were fitted to measurements
counting.py      counts the work of a candidate on a large case: runs a few blocks of a smaller one and scales
"""
