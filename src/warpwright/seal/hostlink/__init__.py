"""nvcc's own host code against a recording CUDA runtime.

linking.py         the same launches by nvcc's own host code: the fall-back, and the oracle in tests
runtime.cpp        the CUDA runtime that such a program is linked with
toolkit.cpp        its answers in structures of the toolkit's own
facts.h            what those structures and ours have in common
include-hostlink/  the toolkit's header for host stubs, amended
"""
