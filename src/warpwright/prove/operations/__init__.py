"""What each operation of torch does to lifted numbers, registered by name. Importing this package registers all.

arithmetic.py    what the numbers can do themselves, and comparisons by their doubles
functions.py     elementwise functions in terms of these
activations.py   activation functions, and their derivatives
movement.py      views, copies, casts and constants
reductions.py    sums, means, extrema, variances, norms
ordering.py      scans, sorts, top-k
products.py      products of matrices
convolutions.py  convolutions in any number of dimensions, and their derivatives
windows.py       sliding windows, which convolutions and pooling share
pooling.py       maximum and average pooling, interpolation
indexing.py      scatters and gathers
normalising.py   softmax and normalisations, and their derivatives
losses.py        loss functions
refused.py       random numbers, which are refused
"""

from warpwright.prove.operations import (
    activations,
    arithmetic,
    convolutions,
    functions,
    indexing,
    losses,
    movement,
    normalising,
    ordering,
    pooling,
    products,
    reductions,
)

__all__ = [
    "activations",
    "arithmetic",
    "convolutions",
    "functions",
    "indexing",
    "losses",
    "movement",
    "normalising",
    "ordering",
    "pooling",
    "products",
    "reductions",
]
