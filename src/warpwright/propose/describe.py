"""A task in words, as short as a kernel writer can do with: the reference, the sizes, what counts as right."""

from __future__ import annotations

from warpwright.core.gpus import Gpu
from warpwright.core.task import Compare, Direction, Task
from warpwright.propose.cases import checked, gradient_layouts, hidden, timed
from warpwright.propose.reference import reference
from warpwright.propose.template import render
from warpwright.tasks.skeleton import entries, skeleton

_DISTRIBUTIONS = {
    "large_mean": "mean 4, deviation 1",
    "tiny": "deviation 0.002",
    "huge": "deviation 4096, or 32 in fp16",
    "negative": "all below zero",
    "positive": "all above zero",
    "unit": "between 0 and 1",
    "uniform": "between -1 and 1",
    "ties": "many equal values",
    "sorted": "ascending",
    "constant": "one value for each row",
    "sparse": "three of four are zero",
    "outliers": "a few 32 times larger",
    "zeros": "all zero",
    "special": "infinities and NaN among them",
}


def description(task: Task, gpu: Gpu) -> str:
    """Everything a writer must know of the task itself."""
    return render(
        "task",
        {
            "summary": task.summary,
            "entry": _entry(task),
            "reference": f"```python\n{reference(task)}\n```",
            "direction": _direction(task),
            "skeleton": f"```cuda\n{_skeleton(task)}```",
            "dtypes": _dtypes(task),
            "checked": checked(task),
            "hidden": hidden(task),
            "distributions": ", ".join(_distribution(name) for name in task.distributions),
            "timed": timed(task, gpu),
            "tolerance": _tolerance(task),
        },
    )


def _entry(task: Task) -> str:
    told = task.reference
    if told.style != "module":
        return _truth(task, f"`{told.entry}`")
    given = [repr(value) for value in told.init] + [f"{name}={value!r}" for name, value in told.init_named.items()]
    state = ", ".join(told.state)
    passed = f" Its parameters and buffers follow the inputs as arguments: {state}." if state else ""
    return _truth(task, f"the module `{told.entry}({', '.join(given)})`, called on the inputs") + passed


def _truth(task: Task, entry: str) -> str:
    """What decides, by direction."""
    if task.direction is Direction.FORWARD:
        return f"The truth is {entry}."
    own = task.reference.backward
    gradients = f"`{own}`" if own else f"autograd through {entry}"
    if task.direction is Direction.TRAINING:
        return f"The truth is {entry} for the outputs and {gradients} for the gradients."
    saved = " What `save` returns arrives as the saved tensors." if task.saves else ""
    return f"The truth is {gradients}.{saved}"


def _skeleton(task: Task) -> str:
    """Without the optional entry, which cannot be sealed."""
    return "".join(line for line in skeleton(task).splitlines(True) if not line.startswith("// Optional entry:"))


def _dtypes(task: Task) -> str:
    if len(task.dtypes) == 1:
        return f"T above is {task.dtypes[0]} in every case."
    return (
        f"T above is the type of the case: {', '.join(task.dtypes)}. One source serves all of them: dispatch on the "
        f"arguments' `scalar_type()` at run time."
    )


def _direction(task: Task) -> str:
    gradients = {"gradients": gradient_layouts(task)} if "backward" in entries(task) else {}
    return render(f"direction_{task.direction}", gradients)


def _distribution(name: str) -> str:
    return f"{name} ({_DISTRIBUTIONS[name]})" if name in _DISTRIBUTIONS else name


def _tolerance(task: Task) -> str:
    words = []
    if "fp32" in task.dtypes:
        words.append(render("tolerance_tf32" if task.tolerance.tf32 else "tolerance_fp32").strip())
    if any(output.compare is Compare.INDEX for output in task.outputs):
        words.append("Indices are compared by the values they select, so ties may be broken either way.")
    if any(output.compare is Compare.EXACT for output in task.outputs):
        exact = ", ".join(output.name for output in task.outputs if output.compare is Compare.EXACT)
        words.append(f"Compared bit for bit: {exact}.")
    return " ".join(words)
