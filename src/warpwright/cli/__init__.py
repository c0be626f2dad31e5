"""Room 5, a face: parses, calls a room, renders. Decides nothing.

main.py        the command `warpwright`: verbs, and errors as one sentence with an exit code
doctor.py      `warpwright doctor`
demo.py        `warpwright demo`
check.py       `warpwright check`
checking.py    one kernel or many, each held against its own task
documents.py   what was checked, as a page and as JUnit XML
verifiers.py   `warpwright verifiers evaluate`
seal.py        `warpwright seal`
bench.py       `warpwright bench` and `warpwright compare`
bundle.py      `warpwright bundle make|import`
standings.py   judged candidates, on one screen
candidates.py  a candidate from the command line: file, task, flags
verdicts.py    what rungs said, in words
tasks.py       `warpwright tasks list|show|check`
contract.py    what `tasks show` prints of one task
admissions.py  running and showing the admission of tasks
screen.py      tables, progress and colours, for people
output.py      JSON with a versioned schema, for programs
"""
