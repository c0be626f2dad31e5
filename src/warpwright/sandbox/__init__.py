"""Room 1, sandbox: hostile code in a box.

run.py        hostile code run and held; the calls below are its own
session.py    our side of one run
launcher.py   the trusted process between us and what runs
isolation.py  what this machine lets us confine with
view.py       what can be seen: a private root, and landlock
filter.py     what may be called: seccomp
limits.py     what may be used
watch.py      what is used, and ending it
syscalls.py   the Linux calls that Python lacks
"""
