"""Names of the rungs, as evidence and archives carry them."""

SOURCE = "source"
SEAL = "seal"
EMULATE = "emulate"
OPINION = "opinion"
PREDICT = "predict"
JUDGE = "judge"
LADDER = (SOURCE, SEAL, EMULATE, OPINION)
"""Those that a machine without a GPU can climb, from the cheapest to the most expensive."""
