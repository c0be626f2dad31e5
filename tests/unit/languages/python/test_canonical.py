"""Operations in the form of a plan: executed by the judge, they give what torch gives."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from warpwright.core.launch.operations import OPERATIONS
from warpwright.judge.gpu.torch_operations import _arguments, _function
from warpwright.languages.python.inside.canonical import Canonical, canonical

X = torch.linspace(-2, 2, 12).reshape(3, 4)
IMAGE = torch.linspace(-2, 2, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)


class Seen(TorchDispatchMode):
    """Keeps the form of every operation that is no view."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.forms: list[Canonical] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        copied = [item.clone() if isinstance(item, torch.Tensor) else item for item in args]
        if not func.is_view:
            self.forms.append(canonical(func, copied, kwargs or {}))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("name", "call", "in_place"),
    [
        ("add.Scalar", lambda: X.clone().add_(2), True),
        ("mul.Scalar", lambda: X * 2.5, False),
        ("sub.Tensor", lambda: torch.sub(X, X.flip(0), alpha=2), False),
        ("pow.Tensor_Scalar", lambda: X**2, False),
        ("clamp", lambda: X.clone().clamp_(min=0), True),
        ("_softmax", lambda: torch.softmax(X, -1), False),
        ("convolution", lambda: torch.conv2d(IMAGE, IMAGE[:, :, :3, :3], padding=1), False),
        ("cat", lambda: torch.cat([X, X]), False),
        ("where.self", lambda: torch.where(X > 0, X, -X), False),
        ("native_layer_norm", lambda: torch.layer_norm(X, (4,)), False),
    ],
)
def test_the_judge_computes_what_torch_did(name: str, call: Any, in_place: bool) -> None:
    with Seen() as seen:
        expected = call()
    form = seen.forms[-1]
    assert (form.name, form.in_place) == (name, in_place)
    assert form.name in OPERATIONS
    function = _function(form.name)
    found = function(**_arguments(function._schema, list(form.inputs), form.options))
    torch.testing.assert_close(found[0] if isinstance(found, tuple) else found, expected)
