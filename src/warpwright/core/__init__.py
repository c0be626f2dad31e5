"""The room core: the plain data that all rooms share. Standard library only.

task.py       Task, Case, arguments, outputs, tolerance, work
signature.py  arguments, outputs and gradients of a task in one case: shapes, strides, dtypes
calls.py      the calling convention: which entries are called, in order, and where each argument comes from
hidden.py     hidden cases, drawn from declared ranges with a secret seed
candidate.py  Candidate and its Flags
climb.py      one candidate on the ladder, with its artefact and the evidence so far
protocols.py  interfaces by which rooms use each other without an import
dtypes.py     element types by name
formula.py    arithmetic over named sizes ("2*M*N*K"), parsed, never eval'ed
codec.py      dataclasses to JSON and back; content ids
errors.py     the exception tree and its exit codes
gpus/         the table of GPUs, and the physical limit
launch/       launch plans and sealed candidates
records/      evidence, measurements and the records of a search
"""
