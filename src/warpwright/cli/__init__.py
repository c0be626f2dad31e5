"""Room 8, a face: parses, calls a room, renders. Decides nothing.

main.py        the command `warpwright`: verbs, and errors as one sentence with an exit code
doctor.py      `warpwright doctor`
demo.py        `warpwright demo`
demonstration.py   its steps: plants that must be caught, searches that must find something
planted        the kernels that must be caught
optimize.py    `warpwright optimize`, `translate`, `repair` and `tune`
search_options.py  what can be said of a search on the command line
beforehand.py  mistakes that can be named before anything slow begins
searching.py   a search: what it may cost, how it ends, how to go on
live.py        a search as it goes
scores.py      scores and costs, in words
runs.py        `warpwright runs list|show|export|import`
run_history.py every decision of a run, and what became of every proposal
report.py      `warpwright report`
chapters.py    what a page says of one search
archive.py     `warpwright archive export`
prices.py      `warpwright prices`
check.py       `warpwright check`
checking.py    one kernel or many, each held against its own task
documents.py   what was checked, as a page and as JUnit XML
verifiers.py   `warpwright verifiers evaluate|tune`
opinions.py    opinions of models on labelled kernels
seal.py        `warpwright seal`
compose.py     `warpwright compose`
bench.py       `warpwright bench` and `warpwright compare`
bench_suite.py `warpwright bench --suite`
bundle.py      `warpwright bundle make|import`
standings.py   judged candidates, on one screen
watching.py    what NVIDIA's tools see of a candidate
candidates.py  a candidate from the command line: file, task, flags
verdicts.py    what rungs said, in words
tasks.py       `warpwright tasks list|show|check`
contract.py    what `tasks show` prints of one task
admissions.py  running and showing the admission of tasks
screen.py      tables, progress and colours, for people
output.py      JSON with a versioned schema, for programs
"""
