"""Room 1, where tasks come from: our suites, and what users already have. Loading gives plain data.

find.py           what a name or a path stands for: `load` and `all_tasks`
suite.py          our own format, a folder with task.toml and reference.py
cases.py          the cases of a task.toml
validate.py       what a decoded task must also satisfy
robust_kbench.py  a robust-kbench directory, as it is
kernelbench.py    a KernelBench problem file, as it is
function.py       ref.py:fn and model.py:Net with the inputs a user describes
given/            what a user gives in place of a name: descriptions of inputs, Python functions, modules
probing/          what that child does: runs the file on tensors without data and writes down what it sees
assemble.py       what was seen becomes a Task
roles.py          which runs become cases of which role, and ranges for hidden ones
replay.py         what is appended to a func_backward.py to make its truth callable
extents.py        names for sizes, and formulas for the sizes that follow from them
"""

from warpwright.tasks.find import all_tasks, load

__all__ = ["all_tasks", "load"]
