"""Programmatic dependent launch: kernels start while the one before them still runs, and wait for it by themselves.

A launch takes about a microsecond, in which the GPU would be idle. A kernel triggers the next launch only after its own
wait, so that all earlier kernels have finished by then. The call's own arguments can be read before the wait: a kernel
may place the wait itself and prefetch them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from warpwright.compose.code.definitions import Definition, Item
from warpwright.compose.code.statements import Launch, Node, Wait
from warpwright.compose.code.traversal import changed, nodes


def with_programmatic_launch(items: Iterable[Item]) -> list[Item]:
    """The same with kernels that wait, and launches that do not."""
    return [changed(_waiting(item), _early) for item in items]


def without_waiting(items: Iterable[Item]) -> list[Item]:
    """The same with kernels that need not wait."""
    return [changed(item, _unless_wait) for item in items]


def _waiting(item: Item) -> Item:
    """A kernel that does not say itself where it waits does so first of all."""
    waits = any(isinstance(node, Wait) for node in nodes(item.body))
    is_unsaid = isinstance(item, Definition) and item.is_kernel and not waits
    return replace(item, body=(Wait(), *item.body)) if is_unsaid else item


def _early(node: Node) -> Node | None:
    return replace(node, is_early=True) if isinstance(node, Launch) else node


def _unless_wait(node: Node) -> Node | None:
    return None if isinstance(node, Wait) else node
