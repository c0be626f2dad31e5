"""The cost model: how long a kernel would take on a GPU.

model.py         the time it would take on a GPU: a prediction, never a measurement
terms.py         what each resource takes
nodes.py         library operations, fills and copies
twin.py          a smaller case that is launched alike
constants.py     what the model takes as given
calibrated.json  those of them that were fitted to measurements
counting.py      what a candidate does on a case too large to run here: a few blocks, counted and scaled
"""
