"""Room 1, worker: a process that has imported torch already and forks for each command, so that commands start at once.

The worker itself never runs a command, a user's file or a candidate: every request runs in a fresh fork of it, with
the caller's working directory, environment, limits and open files. It belongs to one user and one version of our
sources.

identity.py  what a worker must agree on with its caller, and where its socket lies
channel.py   messages between the two
client.py    runs a function in a worker, and starts one for the next command
server.py    the worker: forks, forwards signals, ends when idle
forked.py    what a fork does before it runs the function
"""
