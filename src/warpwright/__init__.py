"""Warpwright: PyTorch functions in, CUDA kernels out: verified, measured honestly, and faster."""

__version__ = "0.1.0"
