"""Runs nvcc's own host code against a recording CUDA runtime.

linking.py         links and runs nvcc's own host code: the fallback, and the oracle in tests
runtime.cpp        the CUDA runtime that such a program is linked with
toolkit.cpp        its answers in the toolkit's structures
facts.h            the common part of those structures and ours
include-hostlink/  the toolkit's header for host stubs, amended
"""
