"""What a prompt says of the GPU.

hints.py          hints that apply to a task on a GPU
hints.toml        the library of hints
facts.py          a GPU in words
gpu_facts.toml    facts of each architecture beyond core's table
"""
