"""Describes a task for a kernel writer, briefly: the reference, the sizes, the tolerance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpwright.core.calls import entries
from warpwright.core.gpus.table import Gpu
from warpwright.core.task import Compare, Direction, Output, Task, TensorArg
from warpwright.languages import Frontend
from warpwright.propose.prompting.cases import checked, gradient_layouts, hidden, timed
from warpwright.propose.prompting.reference import reference
from warpwright.propose.prompting.template import render

HONEST_RUNS, WORST, TYPICAL = 8, 14.0, 5.0
"""The oracle's constants, repeated here because importing the oracle loads torch; a test compares them."""
_DISTRIBUTIONS = {
    "normal": "mean 0, deviation 1",
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
    "sparse": "three quarters are zero",
    "outliers": "a few 32 times larger",
    "zeros": "all zero",
    "special": "infinities and NaN among them",
}


def description(task: Task, gpu: Gpu, language: Frontend) -> str:
    """The part of a prompt that describes the task to a writer of that language."""
    return render(
        "task",
        {
            "function": f"{task.summary} {_entry(task)}".strip(),
            "reference": f"```python\n{reference(task)}\n```",
            "direction": _direction(task, language),
            "skeleton": f"```{language.words.fence}\n{language.skeleton(task, prepare=False)}```",
            "dtypes": _dtypes(task, language),
            "prepare": _prepare(task, language),
            "checked": checked(task),
            "hidden": hidden(task),
            "distributions": ", ".join(_distribution(name) for name in task.distributions),
            "whole": _whole(task),
            "timed": timed(task, gpu),
            "right": " ".join(_right(task)),
        },
        language,
    )


def _entry(task: Task) -> str:
    told = task.reference
    if told.style != "module":
        return _truth(task, f"`{told.entry}`")
    given = [repr(value) for value in told.init] + [f"{name}={value!r}" for name, value in told.init_named.items()]
    state = ", ".join(told.state)
    passed = f" Its parameters and buffers follow the inputs as arguments: {state}." if state else ""
    return _truth(task, f"the module `{told.entry}({', '.join(given)})`") + passed


def _truth(task: Task, entry: str) -> str:
    """States which function defines correct results, by direction."""
    own = task.reference.backward
    gradients = f"`{own}`" if own else f"autograd through {entry}"
    match task.direction:
        case Direction.FORWARD:
            return f"Correct results are those of {entry}, as written below."
        case Direction.TRAINING:
            return f"Correct outputs are those of {entry}; correct gradients are those of {gradients}."
        case Direction.BACKWARD:
            saved = f" `save` computes the saved tensors: {_names(task.saves)}." if task.saves else ""
            return f"Correct gradients are those of {gradients}.{saved}"


def _names(outputs: Iterable[Output]) -> str:
    return ", ".join(output.name for output in outputs)


def _dtypes(task: Task, language: Frontend) -> str:
    spelled = language.dtype
    if len(task.dtypes) == 1:
        words = f"T above is {spelled(task.dtypes[0])} in every case."
    else:
        words = (
            f"T above is the type of the case: {', '.join(map(spelled, task.dtypes))}. One source serves all of them: "
            f"{language.words.dtype_at_run_time}."
        )
    others = [spelled(name) for name in _named_types(task) if spelled(name) != name]
    return words + (f" Also used: {', '.join(others)}." if others else "")


def _named_types(task: Task) -> Iterable[str]:
    """Types besides T that the signature names, in order of appearance."""
    named = [argument.dtype for argument in task.arguments if isinstance(argument, TensorArg)]
    named += [output.dtype for output in (*task.outputs, *task.saves)]
    return dict.fromkeys(name for name in named if name != "T" and name not in task.dtypes)


def _prepare(task: Task, language: Frontend) -> str:
    """Describes `prepare`, which only forward tasks that do not change their arguments may export."""
    if not task.prepares or task.direction is not Direction.FORWARD or task.mutates:
        return ""
    several = len(task.prepares) > 1
    return render(
        "prepare",
        {
            "names": ", ".join(task.prepares),
            "constants": "these arguments" if several else "this argument",
            "first": task.prepares[0],
            "gone": "the arguments themselves" if several else "the argument itself",
        },
        language,
    )


def _direction(task: Task, language: Frontend) -> str:
    fields = {"layouts": _layouts(task, language)}
    if task.direction is Direction.BACKWARD:
        fields["saved"] = f", what the forward pass saved ({_names(task.saves)})" if task.saves else ""
    return render(f"direction_{task.direction}", fields, language)


def _layouts(task: Task, language: Frontend) -> str:
    """States which arguments are contiguous, and which need not be."""
    strided = gradient_layouts(task) if "backward" in entries(task) else None
    return render("layouts", {"gradients": strided}, language).strip() if strided else "All arguments are contiguous."


def _distribution(name: str) -> str:
    return f"{name} ({_DISTRIBUTIONS[name]})" if name in _DISTRIBUTIONS else name


def _whole(task: Task) -> str:
    """States the range of integer tensors such as indices, so that a kernel needs no checks for other values."""
    bounded = [arg for arg in task.arguments if isinstance(arg, TensorArg) and arg.below is not None]
    told = [f"`{arg.name}` from {arg.low} to below {arg.below}" for arg in bounded]
    return f"Integer arguments: {', '.join(told)}." if told else ""


def _right(task: Task) -> Iterator[str]:
    """Yields one paragraph for each way in which results are compared."""
    kinds = {output.compare for output in task.outputs}
    if task.direction is not Direction.FORWARD or task.mutates or Compare.VALUE in kinds:
        yield _right_values(task)
    for output in task.outputs if Compare.INDEX in kinds else ():
        if output.selects is not None:
            yield (
                f"{output.name}: an index is correct if it selects, from the result of `{output.selects}` in float64, "
                "exactly the value that the function's own index in float64 selects at that position (NaN equals NaN; "
                "zeros are equal whatever their sign). So ties may be broken either way."
            )
    if Compare.EXACT in kinds:
        exact = ", ".join(output.name for output in task.outputs if output.compare is Compare.EXACT)
        yield f"Compared bit for bit: {exact}."


def _right_values(task: Task) -> str:
    products = render("tolerance_tf32" if task.tolerance.tf32 else "tolerance_fp32") if "fp32" in task.dtypes else ""
    fields = {
        "runs": str(HONEST_RUNS),
        "worst": f"{WORST * task.tolerance.slack:g}",
        "typical": f"{TYPICAL * task.tolerance.slack:g}",
        "products": products.strip(),
    }
    return render("right_values", fields).strip()
