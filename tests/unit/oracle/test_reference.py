"""The reference function as it runs here: without output, because stdout is ours."""

import warnings
from dataclasses import replace

import pytest
import torch

from warpwright.core.task import Reference, Role
from warpwright.oracle.truth.reference import evaluate, function
from warpwright.tasks import load

TALKATIVE = """
import torch
print("{}")
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        print("made", file=None)
    def forward(self, x):
        print("hello", x.shape, sep=", ", flush=True)
        return x + 1
def doubled(x):
    x = torch.nn.Identity()(x)
    print(x)
    return x + x
"""


def test_output_of_a_reference_is_suppressed(capfd: pytest.CaptureFixture[str]) -> None:
    module = function(Reference(source=TALKATIVE, entry="Model", style="module"))
    plain = function(Reference(source=TALKATIVE, entry="doubled"))
    assert module(torch.ones(3)).tolist() == [2, 2, 2]
    assert plain(torch.ones(3)).tolist() == [2, 2, 2]
    assert capfd.readouterr() == ("", "")


WARNING = """
import warnings
def forward(x):
    warnings.warn("such a size is unusual")
    return x
"""


def test_a_reference_warns_only_about_sizes_of_the_user() -> None:
    (task,) = load("modern/log_softmax:forward")
    task = replace(task, reference=Reference(source=WARNING, entry="forward"))
    for role, heard in ((Role.CHECK, 0), (Role.HIDDEN, 0), (Role.TIME, 1)):
        case = replace(task.cases[0], role=role)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            evaluate(task, case, function(task.reference), [torch.ones(3)], [], [])
        assert len(said) == heard, role
