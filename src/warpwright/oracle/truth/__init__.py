"""The expected values and their error budget.

reference.py         the task's own function, loaded and called
double_precision.py  runs that function in double precision, whatever casts it makes
modes.py             what the ways of running it differently have in common
jitter.py            runs it honestly in its own precision, as another implementation would round
expected.py          expected values and how far an honest implementation is from them
"""
