"""Recorded launches to launch plans.

building.py      traces to plans; addresses to relocations
binding.py       which kernel of the cubin a launch means
expectations.py  what a plan must satisfy before any GPU sees it
occupancy.py     resident blocks, and what the driver would refuse
"""
