"""The room sandbox: runs hostile code in confinement.

run.py        `run` and the functions that other rooms use
session.py    one run as seen from our process
launcher.py   the trusted process between ours and the sandboxed command
isolation.py  the confinement that this machine supports
view.py       file access: a private root, and landlock
filter.py     system calls: seccomp
limits.py     resource limits
watch.py      measures resource use and ends processes
syscalls.py   Linux system calls that Python lacks
"""
