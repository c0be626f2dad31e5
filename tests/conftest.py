"""Tiers: tests that need a GPU are marked, and skipped with the reason without one. No test depends on timing."""

import os
from contextlib import suppress

import pytest

os.environ["WARPWRIGHT_WORKER"] = "off"  # no test leaves a process behind, or meets one of another test

with suppress(ImportError):  # a GPU machine may have pytest and nothing else; no test there needs more
    from hypothesis import HealthCheck, settings

    # A machine that others keep busy is slow at everything; that says nothing of a property.
    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")


def pytest_collection_modifyitems(items):
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _gpu_is_here():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU on this machine"))


def _gpu_is_here():
    import torch

    return torch.cuda.is_available()
