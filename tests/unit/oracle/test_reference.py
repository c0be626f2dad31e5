"""The task's own function as it is run here: it has no voice of its own, because stdout is ours."""

import pytest
import torch

from warpwright.core.task import Reference
from warpwright.oracle.reference import function

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


def test_what_a_reference_prints_is_not_heard(capfd: pytest.CaptureFixture[str]) -> None:
    module = function(Reference(source=TALKATIVE, entry="Model", style="module"))
    plain = function(Reference(source=TALKATIVE, entry="doubled"))
    assert module(torch.ones(3)).tolist() == [2, 2, 2]
    assert plain(torch.ones(3)).tolist() == [2, 2, 2]
    assert capfd.readouterr() == ("", "")
