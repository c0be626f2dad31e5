"""Names of the rungs, as used in evidence and archives."""

TASK = "task"
SOURCE = "source"
SEAL = "seal"
EMULATE = "emulate"
PROVE = "prove"
OPINION = "opinion"
PREDICT = "predict"
JUDGE = "judge"
LADDER = (SOURCE, SEAL, EMULATE, PROVE, OPINION)
"""The rungs that need no GPU, from the cheapest to the most expensive."""
