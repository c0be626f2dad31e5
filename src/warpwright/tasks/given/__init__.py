"""What a user gives in place of a task's name.

described.py  descriptions of inputs: "8,512,768:bf16", "16:int64<100", "eps=1e-5"
examples.py   example inputs, described in that form
callables.py  a Python function as source text that stands alone
modules.py    an nn.Module, traced into such text
"""
