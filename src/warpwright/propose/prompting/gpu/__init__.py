"""Describes the GPU in prompts.

hints.py          selects the hints that apply to a task on a GPU
facts.py          describes a GPU
gpu_facts.toml    facts of each architecture beyond core's table
"""
