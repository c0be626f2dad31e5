"""Memory of a worker process is unmapped in every case: otherwise the driver would never free it."""

from types import SimpleNamespace

import pytest
import torch

from warpwright.judge.gpu import arena, driver
from warpwright.judge.gpu.arena import POISON, Arena, Place


@pytest.fixture
def calls(monkeypatch):
    made = []
    monkeypatch.setattr(driver, "call", lambda name, *_: made.append(name))
    monkeypatch.setattr(driver, "library", lambda: SimpleNamespace(cuIpcOpenMemHandle_v2=SimpleNamespace()))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: SimpleNamespace(synchronize=lambda: None))
    monkeypatch.setattr(arena, "device_memory", lambda address, size: torch.empty(size, dtype=torch.uint8))
    return made


def test_memory_is_unmapped_after_a_failure(calls):
    with pytest.raises(ValueError, match="a process that died"), Arena.mapped(bytes(64), 1024):
        raise ValueError("a process that died")
    assert calls == ["cuIpcOpenMemHandle_v2", "cuIpcCloseMemHandle"]


@pytest.mark.parametrize("far", [None, 0, 1999, 2600, 4095])
def test_a_write_far_outside_all_buffers_is_detected(far):
    memory, zones = torch.full((4096,), POISON, dtype=torch.uint8), torch.arange(2000, 2500)
    memory[2000:2500] = 7
    memory[2100:2200] = 1
    if far is not None:
        memory[far] = 0
    assert Arena(memory).wrote_elsewhere([Place(offset=2100, size=100)], zones) is (far is not None)
