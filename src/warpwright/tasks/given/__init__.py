"""Tasks that a user gives in place of a name.

described.py  descriptions of inputs: "8,512,768:bf16", "16:int64<100", "eps=1e-5"
examples.py   descriptions of example inputs
callables.py  a Python function as standalone source text
again.py      a task that came from a function, named again
modules.py    an nn.Module, traced to such text
"""
