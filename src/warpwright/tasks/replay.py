"""Code appended to a user's func_backward.py, so that its reference can be called in the order of the task.

The arguments of a backward task are in the order of backward_fn's results, and may include some of backward only.
Tensors that AutogradFunction saves are obtained by recording what it passes to backward_fn.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpwright.tasks.probing.seen import Findings

FORWARD = "warpwright_forward"
_FORWARD = """

def {entry}({arguments}):
    return forward_fn({call})
"""
_SAVE = """

class WarpwrightContext:
    saved_tensors = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def __getattr__(self, name):
        return lambda *arguments: None


class WarpwrightHeard(Exception):
    pass


def save({arguments}):
    context, handed = WarpwrightContext(), []
    context.needs_input_grad = ({needs})

    def listen(*given):
        handed.extend(given)
        raise WarpwrightHeard

    outputs = AutogradFunction.forward(context, {call})
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    AutogradFunction.backward_fn = staticmethod(listen)
    try:
        AutogradFunction.backward(context, *(output.new_zeros(output.shape) for output in outputs))
    except WarpwrightHeard:
        return {saved}
"""


def adapter(findings: Findings) -> str:
    """Returns the code; empty if forward_fn takes the task's arguments as they are."""
    names = tuple(seen.name for seen in findings.runs[0].arguments)
    if not findings.call or (names == findings.call and not findings.runs[0].saves):
        return ""
    arguments, call = ", ".join(names), ", ".join(findings.call)
    text = _FORWARD.format(entry=FORWARD, arguments=arguments, call=call)
    if findings.runs[0].saves:
        needs = "True, " * len(findings.call)
        text += _SAVE.format(arguments=arguments, call=call, needs=needs, saved=", ".join(_places(findings)))
    return text


def _places(findings: Findings) -> Iterator[str]:
    """Yields the expression for each saved tensor among the arguments of backward_fn."""
    for save in findings.runs[0].saves:
        for position, entry in enumerate(findings.backward_takes):
            if entry == save.name:
                yield f"handed[{position}]"
            elif isinstance(entry, tuple) and save.name in entry:
                yield f"handed[{position}][{entry.index(save.name)}]"
