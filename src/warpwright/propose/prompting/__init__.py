"""Prompts.

prompt.py         a brief as a prompt: the fields of each operator's template
template.py       Markdown with named fields, rendered strictly
describe.py       a task in words
reference.py      the part of a reference that decides
cases.py          its cases, and the least time of each
element_types.py  what the types of elements are called in CUDA and torch
known.py          what is known of a kernel, and how fast it is, in words
issue.py          why a kernel is wrong, as one issue of at most 35 words
remedies.toml     what usually mends each kind of issue
quoting.py        text of others in a prompt, kept apart from ours
gpu/              what a prompt says of the GPU
prompts/          the templates, one for each operator and for each part they share
"""
