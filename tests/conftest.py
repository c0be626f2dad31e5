"""Tiers: what needs a GPU says so, and is skipped with the reason where there is none."""

import pytest


def pytest_collection_modifyitems(items):
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _gpu_is_here():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU on this machine"))


def _gpu_is_here():
    import torch

    return torch.cuda.is_available()
