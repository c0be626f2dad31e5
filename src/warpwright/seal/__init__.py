"""Room 1, seal: a candidate's source becomes a cubin and a launch plan; its host code never meets a GPU.

sealing.py     seal: the library call
__main__.py    makes our precompiled headers ahead of the first kernel
workpiece.py   one candidate from source to Sealed, step by step
refusal.py     why a candidate was not sealed
artefact.py    a sealed candidate on disk
cache.py       the store of artefacts
summary.py     a sealed candidate in a few figures
toolchain.py   which compilers this machine has
include/       torch, ATen, c10, pybind11 and cuBLAS as far as extensions use them
include-host/  the toolkit's headers as far as host code needs them
recorder/      what capture programs are linked with
capture/       Host code: run once, its launches recorded
device/        Device code: source to cubin
hostlink/      nvcc's own host code against a recording CUDA runtime
plans/         Recorded launches to launch plans
"""
