"""Turns recorded launches into launch plans.

building.py      turns traces into plans, and addresses into relocations
binding.py       finds the kernel of the cubin that a launch refers to
expectations.py  checks a plan before it reaches a GPU
occupancy.py     computes resident blocks, and launches that the driver would refuse
"""
