"""Room 8, a face: parses, calls a room, renders. Decides nothing.

main.py    the command `warpwright`: verbs, and errors as one sentence with an exit code
doctor.py  `warpwright doctor`
screen.py  tables, progress and colours, for people
output.py  JSON with a versioned schema, for programs
grouped.py  options that belong together, as a dataclass
bench/     Kernels timed
check/     Kernels checked, sealed and composed
demo/      The demo
search/    Searches and their records
tasks/     Tasks shown and checked
"""
