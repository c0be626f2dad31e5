"""Check and time sealed kernels on the GPU. Travels to the GPU machine: standard library, torch, the driver by ctypes.

judging.py  the judge: one candidate after the other, checked, then timed
worker.py   judges a folder of jobs, one by one
watching.py what NVIDIA's profiler and sanitizer report on one candidate
checks/     whether a candidate's results are right
timing/     how long a candidate takes, beside its baselines
baselines/  PyTorch's own implementations, timed in processes of their own
processes/  the processes that run kernels, and messages between them
gpu/        the CUDA driver, device memory, launch plans replayed
"""
