"""The child process that runs a user's file, on tensors without data wherever that works.

__main__.py   reads a Job, writes an Answer
answering.py  who answers which kind of Job
user_file.py  the file as a module; its mistakes as one sentence
recording.py  where the tensors a file makes come from: rand or randn, below what, upper triangular
values.py     tensors from descriptions and back
observing.py  one call of a function: what went in, what came out, what was changed
sizing.py     which sizes may be smaller
shrinking.py  the small cases that follow
exploring.py  the whole of what is found out about one function
state.py      parameters and buffers of a module, and the recipe each is filled by
binding.py    a function or module of the user's, and its arguments by name
problem.py    a KernelBench file
directory.py  one direction of a robust-kbench directory
handing.py    what its Model hands to fn
autograd.py   what an AutogradFunction hands to its kernel, and in which order
"""
