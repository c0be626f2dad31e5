"""Builds prompts for language models.

prompt.py         builds the prompt of a brief: the fields of each operator's template
template.py       renders Markdown templates with named fields, strictly
describe.py       describes a task
reference.py      extracts the part of a reference file that defines the function
cases.py          describes a task's cases and the least time of each
known.py          describes a kernel of the run and its speed
history.py        what a run has tried, a line for each proposal
resources.py      what a compiled kernel takes from the GPU
issue.py          describes why a kernel is wrong, as one issue of at most 35 words
quoting.py        quotes foreign text in a prompt, between boundaries
gpu/              describes the GPU
prompts/          the templates, one for each operator and for each shared part
"""
