"""The room tasks: loads tasks from our suites and from users' files, as plain data.

find.py           `load` and `all_tasks`: tasks by name or path
suite.py          our own format, a folder with task.toml and reference.py
cases.py          the cases of a task.toml
validate.py       consistency of a decoded task
robust_kbench.py  robust-kbench directories
kernelbench.py    KernelBench problem files
function.py       ref.py:fn and model.py:Net with inputs that the user describes
given/            descriptions of inputs, Python functions and modules in place of a name
probing/          runs a user's file in a child process and describes what it does
assemble.py       builds a Task from these descriptions
roles.py          the cases of each role, and ranges for hidden ones
replay.py         code appended to a func_backward.py to make its reference callable
extents.py        names for sizes, and formulas for sizes that depend on others
"""

from warpwright.tasks.find import all_tasks, load

__all__ = ["all_tasks", "load"]
