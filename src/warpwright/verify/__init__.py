"""The room verify: verdicts on candidates, and the admission of tasks.

ladder.py      climbs the rungs in order, up to the first that refutes
own_task.py    rung: whether a task of the user can tell right from wrong
source.py      rung: whether the text is a source of its language that exports an entry point
seal.py        rung: whether it compiles, its host code gives a plan, and the driver would launch it
emulate.py     rung: whether its results are correct on the CPU emulator
prove.py       rung: whether it computes the formula of its reference
coverage.py    which requested cases were not run, and which kernels no check has launched
library.py     torch operations within an emulated call
evaluation.py  measures verifiers on labelled kernels
comparison.py  several verifiers on the same kernels: shares of faults by class, false rejections
admission.py   whether a task refutes wrong implementations and accepts honest ones
opinion/       rung: opinions of language models
"""
