"""Room 2, sealed kernels on the GPU. Travels to the GPU machine: standard library, torch, and the driver by ctypes.

driver.py     the CUDA driver: modules, functions, launches, copies
module.py     a cubin in the context: kernels by demangled name, globals that can be put back
room.py       the card's memory, which many share
memory.py     buffers of a plan and tensors as windows on them
precision.py  what torch's own products may round to
library.py    operations of torch that a plan names, executed by us
replay.py     a plan, launched with our own buffers
arena.py      device memory that two processes see, with red zones
link.py       messages between processes, as JSON, with a deadline
cells.py      processes as the judge sees them: fresh, asked with a deadline, killed without regret
cell.py       the process that runs candidate kernels, and nothing else
rival.py      the process that runs torch's own answers
ahead.py      baselines compiled before they are needed, many at a time
visit.py      one call of a candidate as the judge stages it
scribes.py    truths of small draws, many at a time
truths.py     what is true of each draw, computed once and kept
examine.py    whether a candidate is right
likeness.py   whether a timed result looks right, at a fraction of the price of the full truth
stopwatch.py  device time of captured work, cold or warm
stopping.py   when enough samples have been taken
inference.py  what samples allow one to say
gauge.py      clocks of the card, and what holds them down
timekeeping.py one case of a candidate and its rivals, timed
timing.py     subjects take turns at being timed
contestant.py the candidate in its cell, timed and checked call by call
doubt.py      whether its time is one: does a call remember, or work for others?
rivals.py     torch's answers, each in a process of its own
baseline.py   one of torch's answers, timed in the rival's process
judging.py    the judge: one candidate after the other, checked, then timed
solo.py       one candidate alone in a process, for tools that watch a process
watching.py   what limits it and what it does to memory, by NVIDIA's own tools
worker.py     a folder of jobs, judged one by one
"""
