"""Which pointer arguments of a kernel may be written through: buffers behind the others cannot be raced for."""

from __future__ import annotations

from collections.abc import Iterator

from warpwright.ttir.syntax.tree import Block, Function, Operation
from warpwright.ttir.syntax.types import Type

_WRITES = (
    "tt.store",
    "tt.atomic_rmw",
    "tt.atomic_cas",
    "tt.descriptor_store",
    "tt.descriptor_reduce",
    "tt.descriptor_scatter",
)
_OPAQUE = ("tt.int_to_ptr", "tt.call")
_PLAIN = ("tt.load", "tt.descriptor_load", "tt.descriptor_gather", "tt.ptr_to_int", "arith.cmpi", *_WRITES)


def operations(block: Block) -> Iterator[Operation]:
    """All operations of a block, those of inner regions too."""
    for operation in block.operations:
        yield operation
        for region in operation.regions:
            for inner in region:
                yield from operations(inner)


def written(function: Function) -> set[str]:
    """The parameters that a store may reach; all of them if an address may come from elsewhere."""
    every = [operation for block in function.body for operation in operations(block)]
    pointers = [name for name, kind in function.parameters if _leads(kind)]
    if any(one.name in _OPAQUE or _loads_pointers(one) for one in every):
        return set(pointers)
    groups = _Groups()
    for block in function.body:
        _join_block(block, groups)
    for one in every:
        _join(one, groups)
    targets = {groups.of(one.operands[0]) for one in every if one.name in _WRITES}
    return {name for name in pointers if groups.of(name) in targets}


def _leads(kind: Type) -> bool:
    return kind.element in ("ptr", "desc")


def _loads_pointers(operation: Operation) -> bool:
    return operation.name == "tt.load" and operation.taken[0].pointee == "ptr"


def _join(operation: Operation, groups: _Groups) -> None:
    """Pointers that one operation takes and gives may be the same."""
    if operation.name in _PLAIN or (
        not any(map(_leads, [*operation.taken, *operation.given])) and not operation.regions
    ):
        return
    inner = [
        name for region in operation.regions for block in region for name, kind in block.parameters if _leads(kind)
    ]
    if operation.regions and not inner and not any(map(_leads, operation.given)):
        return
    groups.join([*operation.operands, *operation.results, *inner, *_handed(operation)])
    for region in operation.regions:
        for block in region:
            _join_block(block, groups)


def _handed(operation: Operation) -> list[str]:
    """What the ends of an operation's regions hand over, and branches to their blocks."""
    ends = [block.operations[-1] for region in operation.regions for block in region if block.operations]
    names = [name for end in ends if any(map(_leads, end.taken)) for name in end.operands]
    return names + [name for _, handed in operation.targets for name in handed]


def _join_block(block: Block, groups: _Groups) -> None:
    """A block's pointer parameters may be any of those that branches hand over."""
    for operation in block.operations:
        for label, handed in operation.targets:
            groups.join([*handed, label])
    pointers = [name for name, kind in block.parameters if _leads(kind)]
    if block.label and pointers:
        groups.join([*pointers, block.label])


class _Groups:
    """Names that may lead to the same buffer."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def of(self, name: str) -> str:
        while (above := self._above.get(name, name)) != name:
            name = above
        return name

    def join(self, names: list[str]) -> None:
        roots = [self.of(name) for name in names]
        for root in roots[1:]:
            self._above[root] = self.of(roots[0]) if root != self.of(roots[0]) else root
