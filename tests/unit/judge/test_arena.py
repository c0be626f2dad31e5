"""Memory of a cell is mapped for as long as somebody looks at it: else a dead cell's would never come free."""

from types import SimpleNamespace

import pytest
import torch

from warpwright.judge import driver
from warpwright.judge.arena import Arena


@pytest.fixture
def calls(monkeypatch):
    made = []
    monkeypatch.setattr(driver, "call", lambda name, *_: made.append(name))
    monkeypatch.setattr(driver, "library", lambda: SimpleNamespace(cuIpcOpenMemHandle_v2=SimpleNamespace()))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: SimpleNamespace(synchronize=lambda: None))
    monkeypatch.setattr(Arena, "__init__", lambda self, address, size: None)
    return made


def test_it_is_given_back_when_the_look_ends_in_a_failure(calls):
    with pytest.raises(ValueError, match="a cell that died"), Arena.mapped(bytes(64), 1024):
        raise ValueError("a cell that died")
    assert calls == ["cuIpcOpenMemHandle_v2", "cuIpcCloseMemHandle"]
