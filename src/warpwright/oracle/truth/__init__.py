"""Expected values and their error budget.

reference.py         the reference function, loaded and called
undrawn.py          constructs modules without drawing their weights, for tracing
double_precision.py  runs it in double precision, whatever casts it makes
eight_bits.py        rounding to 8 bits on the way through a reference
modes.py             the base class of torch dispatch modes
jitter.py            runs it in its own precision with the rounding of another honest implementation
expected.py          expected values and the spread of honest implementations around them
"""
