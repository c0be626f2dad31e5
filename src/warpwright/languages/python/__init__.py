"""Python files: a ModelNew, a custom_kernel or a function, with C++ extensions and operations of torch.

frontend.py  the language, as the other rooms see it
form.py      what of a file is called, and how
text.py      what can be told of a text without running it
skeleton.py  a file to fill in for a task
record.py    the record of one call: what Python code did on the device
pipeline.py  a candidate becomes a CUDA C++ candidate that does what was recorded
recording/   runs Python code in the sandbox and reads its records
inside/      the code that runs there, with tensors that have no data
lowering/    writes records as C++ host code
tiles/       seals and runs records with kernels that Python code compiled itself, such as Triton's
prompts/     the rules for a writer
"""

from warpwright.languages.python.frontend import Python

FRONTEND = Python()
