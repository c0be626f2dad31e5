"""Room 1, what "right" means: inputs from seeds, an fp64 truth, an error budget, a comparator, controls.

generator.py      counter-based random integers, bit-identical on every machine and device
distributions.py  named recipes that turn those integers into inputs and parameters
inputs.py         the arguments of one draw, laid out as the case says
storage.py        tensors as the bytes they occupy
reference.py      the task's own function, loaded and called
lift.py           runs that function in double precision, whatever casts it makes
mode.py           what the ways of running it differently have in common
jitter.py         runs it honestly in its own precision, as another implementation would round
truth.py          expected values and how far an honest implementation is from them
compare.py        whether a result is right, element by element
distance.py       which of two results is farther from the truth
check.py          a whole result: count, contents, and what was done to memory
draws.py          which draws a task is checked on
explain.py        where and how it is wrong, in words
tampering.py      runs the reference with one operation left out
controls.py       wrong results that a robust task must refute
variants.py       right results, computed otherwise, that it must not
"""
