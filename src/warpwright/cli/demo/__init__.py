"""The demo.

demo.py           `warpwright demo`
demonstration.py  its steps: plants that must be caught, searches that must find something
planted/          the kernels that must be caught
"""
