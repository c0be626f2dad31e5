"""The demo.

demo.py           `warpwright demo`
demonstration.py  its steps: planted kernels to catch, searches that must find a kernel
planted/          the kernels to catch
"""
