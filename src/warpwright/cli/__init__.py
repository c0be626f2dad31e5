"""The room cli: parses the command line, calls the API, prints results. Makes no decisions.

main.py    the command `warpwright`: verbs, and errors as one sentence with an exit code
warm.py    commands in a process that has imported torch already
doctor.py  `warpwright doctor`
mcp.py     `warpwright mcp`: the face for agents, started
screen.py  tables, progress and colours
output.py  JSON with a versioned schema
grouped.py  groups of options as dataclasses
bench/     kernels timed
check/     kernels checked, sealed and composed
demo/      the demo
search/    searches and their records
tasks/     tasks shown and checked
"""
