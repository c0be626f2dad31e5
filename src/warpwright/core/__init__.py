"""Room 0, the words: plain data that every other room speaks. Standard library only.

task.py          what is asked: Task, Case, arguments, outputs, tolerance, work
signature.py     what a candidate is called with and gives back in one case: shapes, strides, dtypes
hidden.py        hidden cases, drawn from declared ranges with a secret seed
candidate.py     what is proposed: Candidate and its Flags
plan.py          what a candidate's host code did: Plan and its nodes
operations.py    the operations of torch that a plan may name
sealed.py        a sealed candidate: device code and launch plans, without its host code
evidence.py      what was learnt: Verdict, Evidence, Dossier; and Fault, which is never a verdict
measurement.py   what was timed: Measurement with raw samples, discards and the Scene
judged.py        what is asked of a judge and what it says: the records that travel to a GPU machine and back
search.py        what a search does, as records: Run, Brief, Decision, Call, Proposal, Score; and their Snapshot
protocols.py     what a room may be asked to do, without knowing which room does it
gpus.py          the table of GPUs: peaks, limits of each architecture, sources
limit.py         the physical limit of a piece of work on a GPU
dtypes.py        element types by name
formula.py       arithmetic over named sizes ("2*M*N*K"), parsed, never eval'ed
codec.py         dataclasses to JSON and back; content ids
errors.py        the exception tree and its exit codes
"""
