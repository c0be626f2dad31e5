"""Finds small products that share their first factor, and fuses them and the factor's computation into one launch.

If only they use the factor, it is not stored. The product that takes the factor transposed also stores its column sums.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from warpwright.compose.ir.operations import Op, Reduced
from warpwright.compose.ir.sizes import Cases
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph, Value
from warpwright.compose.kernels.product import small as product_kernel
from warpwright.compose.kernels.product import tile as tile_kernel
from warpwright.compose.schedule.groups import Group, Schedule, base_of, reachable


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The stores of adjacent groups that one launch can do."""

    groups: int
    factor: Value
    products: tuple[Store, ...]
    sums: tuple[Store | None, ...]
    """For each product: the store of the row sums of its first factor."""
    scratch: Tensor | None
    """The tensor of the factor, if it must be computed."""


def is_transposed(product: Store) -> bool:
    """Whether the product takes the shared factor transposed."""
    return product.value.args[-2].op is Op.PERMUTE


def shared(schedule: Schedule, first: int, graph: Graph) -> Shared | None:
    """The shared products from a group on; without the factor's other uses if they cannot be fused."""
    groups = schedule.groups[first:]
    found = next((group for group in groups[:2] if _is_worth_it(group.stores[0], schedule, graph)), None)
    if found is None:
        return None
    factor = base_of(found.stores[0].value.args[-2])
    run = _run(groups, factor, schedule, graph)
    alone = list(itertools.takewhile(lambda group: group.stores[0].value.op is Op.LIBRARY, run))
    return _together(run, factor, schedule, graph) or _together(alone, factor, schedule, graph)


def _run(groups: Sequence[Group], factor: Value, schedule: Schedule, graph: Graph) -> list[Group]:
    """The adjacent groups that use the factor, with at most as many products as fit into a launch."""
    found: list[Group] = []
    made: set[int] = set()
    for group in groups:
        is_product = group.stores[0].value.op is Op.LIBRARY
        needs_another = any(base_of(arg).number in made for arg in group.stores[0].value.args)
        if not all(_belongs(store, factor, schedule, graph) for store in group.stores):
            break
        if is_product and (needs_another or len(made) == tile_kernel.TOGETHER):
            break
        found.append(group)
        made |= {group.stores[0].value.number} if is_product else set()
    return found


def _is_worth_it(store: Store, schedule: Schedule, graph: Graph) -> bool:
    """Whether the store is a product of row-major factors that is small in a timed case."""
    cases = graph.cases
    if not product_kernel.is_product(store, cases):
        return False
    *bias, a, b = store.value.args
    rows = [*bias, a.first if is_transposed(store) else a, b]
    return all(_is_plain(arg, store, schedule, cases) for arg in rows) and any(
        tile_kernel.is_small(*sizes, graph.gpu) for sizes in product_kernel.timed(store, cases)
    )


def _is_plain(value: Value, product: Store, schedule: Schedule, cases: Cases) -> bool:
    """Whether the value is a tensor of the product's type, apart from its shape."""
    tensor = schedule.held.get(_reshaped(value).number)
    return tensor is not None and not tensor.listed and _has_type(tensor, product, cases)


def _reshaped(value: Value) -> Value:
    """The operand with the same elements in the same order."""
    while value.op is Op.RESHAPE:
        value = value.first
    return value


def _has_type(tensor: Tensor, product: Store, cases: Cases) -> bool:
    return tensor.dtype in ("T", "fp32") if product_kernel.type_of(product, cases) == "float" else tensor.dtype == "T"


def _belongs(store: Store, factor: Value, schedule: Schedule, graph: Graph) -> bool:
    """Whether the store is the factor, its column sums, or a product with it as first factor only."""
    value = store.value
    if store.at or store.dim is not None:
        return False
    if value.op is not Op.LIBRARY:
        return value is factor or (value.op is Op.COLUMNS and _reshaped(value.first) is factor)
    *others, a, b = value.args
    is_first = base_of(a) is factor and all(base_of(arg) is not factor for arg in (*others, b))
    return is_first and _is_worth_it(store, schedule, graph)


def _together(run: Sequence[Group], factor: Value, schedule: Schedule, graph: Graph) -> Shared | None:
    """Fuses all these groups into one launch; None if that is not possible."""
    stores = [store for group in run for store in group.stores]
    products = [store for store in stores if store.value.op is Op.LIBRARY]
    sums = [store for store in stores if store.value.op is Op.COLUMNS]
    itself = [store for store in stores if store.value is factor]
    placed = _placed(sums, products, graph.cases)
    if not products or placed is None or (itself and not _is_only_here(itself, run, schedule)):
        return None
    scratch = itself[0].tensor if itself else None
    return Shared(groups=len(run), factor=factor, products=tuple(products), sums=placed, scratch=scratch)


def _placed(sums: Sequence[Store], products: Sequence[Store], cases: Cases) -> tuple[Store | None, ...] | None:
    """The sums that each product stores; None if some sums have no product."""
    left = list(sums)
    found = []
    for product in products:
        fitting = [store for store in left if _leaves(product, store, cases)]
        found.append(fitting[0] if fitting else None)
        left = [store for store in left if store not in fitting[:1]]
    return None if left else tuple(found)


def _leaves(product: Store, sums: Store, cases: Cases) -> bool:
    """Whether the row sums of the product's first factor are the wanted column sums."""
    cut, shape = sums.value.attr(Reduced).dims, sums.value.first.shape
    summed = cases.product(shape[cut:]), cases.product(shape[:cut])
    is_right = is_transposed(product) and product.value.args[-2].shape == summed
    return is_right and _has_type(sums.tensor, product, cases)


def _is_only_here(itself: Sequence[Store], run: Sequence[Group], schedule: Schedule) -> bool:
    """Whether no other kernel reads the factor from memory."""
    factor, others = itself[0], [group for group in schedule.groups if group not in run]
    held = {number: tensor for number, tensor in schedule.held.items() if number != factor.value.number}
    needed = [arg for group in others for store in group.stores for arg in (*store.value.args, *store.at)]
    is_scratch = len(itself) == 1 and factor.tensor in schedule.tensors
    return is_scratch and factor.value not in reachable(needed, held)
