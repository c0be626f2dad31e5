"""Room 0, the words: plain data that every other room speaks. Standard library only.

task.py       what is asked: Task, Case, arguments, outputs, tolerance, work
signature.py  what a candidate is called with and gives back in one case: shapes, strides, dtypes
hidden.py     hidden cases, drawn from declared ranges with a secret seed
candidate.py  what is proposed: Candidate and its Flags
climb.py      one candidate on its way up the ladder, with what was made of it and found out so far
protocols.py  what a room may be asked to do, without knowing which room does it
dtypes.py     element types by name
formula.py    arithmetic over named sizes ("2*M*N*K"), parsed, never eval'ed
codec.py      dataclasses to JSON and back; content ids
errors.py     the exception tree and its exit codes
gpus/         GPUs: their table and the physical limit
launch/       Launch plans and sealed candidates
records/      What was learnt, as records
"""
