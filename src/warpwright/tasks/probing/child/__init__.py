"""The child process that runs a user's file, on tensors without data where possible.

__main__.py   reads a Job, writes an Answer
answering.py  dispatches each kind of Job
user_file.py  loads the file as a module; its errors as one sentence
recording.py  the origin of tensors that a file makes: rand or randn, upper bound, upper triangular
values.py     tensors from descriptions and back
observing.py  one call of a function: its inputs, outputs and mutated arguments
sizes/        which sizes may be smaller, small cases and reductions with them, the least work of a call
exploring.py  all findings about one function
state.py      parameters and buffers of a module, and the recipe that fills each
binding.py    a user's function or module, and its arguments by name
problem.py    a KernelBench file
directory.py  one direction of a robust-kbench directory
fn_arguments.py  the arguments that a robust-kbench Model passes to fn
autograd.py   the arguments that an AutogradFunction passes to its kernel
"""
