"""Room 1, seal: a candidate's source becomes a cubin and a launch plan; its host code never meets a GPU.

sealing.py             seal and seal_many: the library calls
__main__.py            makes our precompiled headers ahead of the first kernel
workpiece.py           one candidate from source to Sealed, step by step
device.py              nvcc: source to cubin, and what each kernel needs
phases.py              nvcc's own steps, one by one, with our preamble between them
preamble.py            the part of our headers and the toolkit's that a text asks for
pieces.py              preprocessed headers cut into their declarations
meanings.py            what a declaration declares
front.py               preprocessed CUDA to C++ that records its launches
editing.py             text with tokens replaced in place; launches as plain calls
declarations.py        where a function's name, parameters and body are
tokens.py              C++ text as tokens, nothing lost
front.h                what is precompiled for capture programs
capture.py             g++ and the sandbox: the capture program, built and run
calls.py               what a capture program is asked
traced.py              the words of what it answers
trace.py               its answer read as hostile data
observe.py             the same call under several address spaces, processes and orders
preparing.py           the optional prepare, and what forward gets from it
plans.py               traces to plans; addresses to relocations
binding.py             which kernel of the cubin a launch means
names.py               names that both compilers agree on
elf.py                 symbols and sections of cubins and programs
expectations.py        what a plan must satisfy before any GPU sees it
occupancy.py           resident blocks, and what the driver would refuse
diagnose.py            compile errors as facts, and whose fault they are
torch_names.txt        names of torch's C++ surface, to tell a gap of ours from a slip of the candidate's
refusal.py             why a candidate was not sealed
artefact.py            a sealed candidate on disk
cache.py               the store of artefacts
hostlink.py            the same launches by nvcc's own host code: the fall-back, and the oracle in tests
hostlink.cpp           the CUDA runtime that such a program is linked with
hostlink_toolkit.cpp   its answers in structures of the toolkit's own
hostlink_facts.h       what those structures and ours have in common
summary.py             a sealed candidate in a few figures
toolchain.py           which compilers this machine has
sandbox.py             hostile code run and held; the calls below are its own
sandbox_session.py     our side of one run
sandbox_launcher.py    the trusted process between us and what runs
sandbox_isolation.py   what this machine lets us confine with
sandbox_view.py        what can be seen: a private root, and landlock
sandbox_filter.py      what may be called: seccomp
sandbox_limits.py      what may be used
sandbox_watch.py       what is used, and ending it
sandbox_kernel.py      the Linux calls that Python lacks
include/               torch, ATen, c10, pybind11 and cuBLAS as far as extensions use them
include-host/          the toolkit's headers as far as host code needs them
include-hostlink/      the toolkit's header for host stubs, amended
recorder/              what capture programs are linked with
"""
