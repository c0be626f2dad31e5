"""Room 4, prove: decides whether a kernel computes the formula of its reference, in lifted numbers.

A lifted number is a double, which decides comparisons, with residues, which decide equality.

proving.py     the library call `prove`
proof.py       its result
trial.py       decides one case
comparison.py  compares lifted results, element by element
device.py      runs a lifted program on the inputs of a draw
library.py     builds the arithmetic as a shared library
numbers.py     tensors of lifted numbers
tensor.py      a tensor for torch whose elements are lifted numbers
lifting.py     the dispatch mode under which torch computes in lifted numbers
operations/    what each operation of torch does to lifted numbers
reference.py   the reference of a task in lifted numbers
"""
