"""Memory of a launch.

allocations.py   buffers at fake addresses, found by address
access.py        reads and writes of a batch, lane by lane against bounds, alignment and first writes
atomics.py       read, modify and write, lane by lane where the old values are asked for
shadow.py        who read, wrote and updated each element, and which of them race
ordered.py       the same for programs that synchronise, which run one at a time
clocks.py        the order that synchronising atomics give to programs
reports.py       what memory has to say of an access, in words
"""
