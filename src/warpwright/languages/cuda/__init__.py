"""CUDA C++ in the form of a torch extension: one `.cu` file whose host code binds its entry points.

frontend.py       the language, as the other rooms see it
sources.py        a source of several files, and options in its comments
text.py           what can be told of a text without a compiler
skeleton.py       a ready-to-fill file for a task
element_types.py  what the types of elements are called in CUDA and torch
fingerprint.py    a hash that comments, white space and a source's own names do not change
traits.py         four axes, 0 to 3, and why
tunables.py       constants that a source leaves open for a tuner
merging/          merges several kernels into one source
prompts/          the rules for a writer, hints, and the usual fix for each kind of error
"""

from warpwright.languages.cuda.frontend import Cuda

FRONTEND = Cuda()
