"""PyTorch's own answers.

process.py      the process that runs torch's own answers
competitors.py  torch's answers, each in a process of its own
timed.py        one of torch's answers, timed in the rival's process
precompile.py   baselines compiled before they are needed, many at a time
"""
