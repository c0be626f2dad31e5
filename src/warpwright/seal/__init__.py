"""The room seal: compiles a candidate's source to a cubin and a launch plan; its host code never runs beside a GPU.

sealing.py     the library call `seal`
__main__.py    precompiles our headers before the first kernel
job.py         takes one candidate from source to Sealed, step by step
refusal.py     the reason why a candidate was not sealed
artefact.py    reads and writes sealed candidates on disk
cache.py       the store of artefacts
summary.py     summarises a sealed candidate in a few figures
toolchain.py   finds the compilers of this machine
include/       the parts of torch, ATen, c10, pybind11 and cuBLAS that extensions use
include-host/  the parts of the toolkit's headers that host code needs
recorder/      the library that capture programs are linked with
capture/       runs host code once and records its launches
device/        compiles device code to a cubin
hostlink/      runs nvcc's own host code against a recording CUDA runtime
plans/         turns recorded launches into launch plans
"""
