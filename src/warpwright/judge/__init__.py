"""Room 2, sealed kernels on the GPU. Travels to the GPU machine: standard library, torch, and the driver by ctypes.

judging.py     the judge: one candidate after the other, checked, then timed
watching.py    what limits it and what it does to memory, by NVIDIA's own tools
worker.py      a folder of jobs, judged one by one
baselines/     PyTorch's own answers
checks/        Whether a candidate is right
contestant.py
gpu/           The GPU by its driver
processes/     The processes that run kernels
timing/        How long a candidate takes
"""
