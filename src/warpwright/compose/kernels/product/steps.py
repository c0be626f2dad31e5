"""Writes products: by a kernel if they are small at run time, else by a library call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from warpwright.compose.code.printer import laid_out
from warpwright.compose.code.statements import Assign, If
from warpwright.compose.code.text import (
    Code,
    Piece,
    code,
    joined,
)
from warpwright.compose.cuda import library
from warpwright.compose.cuda.host import HostWriter, Step
from warpwright.compose.cuda.kernel import Written, pointer
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.kernels.product import small as product_kernel
from warpwright.compose.kernels.product import tile as tile_kernel
from warpwright.compose.kernels.product.first_factor import first_factor
from warpwright.compose.kernels.product.shared_factor import Shared, is_transposed, shared
from warpwright.compose.schedule.groups import base_of


class ProductWriter(HostWriter):
    """Host code of one entry, and the kernels of its products."""

    def _held_before(self, index: int) -> dict[int, Tensor]:
        """The tensors in memory before a group."""
        schedule, given = self.entry.schedule, self.entry.inputs
        late = {number for number, maker in schedule.made_by.items() if maker >= index and number not in given}
        return {number: tensor for number, tensor in schedule.held.items() if number not in late}

    def _products_together(self, first: int) -> int:
        """The number of steps from `first` on that are small products and share a launch."""
        stores: list[Store] = []
        for group in self.entry.schedule.groups[first : first + product_kernel.TOGETHER]:
            store, made = group.stores[0], {store.value.number for store in stores}
            needs_another = any(base_of(arg).number in made for arg in store.value.args)
            if needs_another or not product_kernel.is_worth_it(store, self.graph.cases, self.graph.gpu):
                break
            stores.append(store)
        if stores:
            self._small_products(stores, self._held_before(first))
        return len(stores)

    def _small_products(self, stores: Sequence[Store], held: Mapping[int, Tensor]) -> None:
        given, start = [], len(self.calls)
        for store in stores:
            *bias, a, b = (library.viewed(arg, held, self.size) for arg in store.value.args)
            given.append(code("{{{items}}}", items=joined(", ", [a, b, store.tensor.name, *bias])))
            self._by_library(store, held)
        products = joined(", ", given)
        call = code("small_products<{cpp}>({{{products}}})", cpp=self._element(stores[0]), products=products)
        self._unless_taken(call, start)
        self.kernels.append(product_kernel.product_kernels(self.graph.gpu))

    def _by_library(self, store: Store, held: Mapping[int, Tensor]) -> None:
        """A product by a library call, into an existing tensor."""
        text = library.call(store.value, held, self.size, self._types())
        self.calls.append(Step(Assign(store.tensor.name, text), launches=True))

    def _element(self, store: Store) -> str:
        """The type of the elements of a product, as the host writes it."""
        return "float" if product_kernel.type_of(store, self.graph.cases) == "float" else self.scalar

    def _unless_taken(self, call: Code, start: int) -> None:
        """Makes the calls from `start` on only if the first choice declines."""
        inner = tuple(step.statement for step in self.calls[start:])
        self.calls[start:] = [Step(If(code("!{call}", call=call), inner), launches=True)]

    def _factor_shared(self, first: int, otherwise: Callable[[int], int]) -> int:
        """The number of steps from `first` on that share a first factor and are fused into one launch."""
        found = shared(self.entry.schedule, first, self.graph)
        factor = found and self._first_factor(found, self._held_before(first))
        if not found or not factor:
            return 0
        start = len(self.calls)
        self._one_by_one(found, first, otherwise)
        self._unless_taken(self._tiles(found, factor), start)
        self.kernels += [tile_kernel.tile_kernels(self.graph.gpu), factor]
        return found.groups

    def _first_factor(self, found: Shared, held: Mapping[int, Tensor]) -> Written | None:
        called = (found.scratch or held[found.factor.number]).name
        name = "".join(word.title() for word in f"{self.entry.name}_{called}".split("_"))
        return first_factor(name, called, found.factor, self.graph, held)

    def _one_by_one(self, found: Shared, first: int, otherwise: Callable[[int], int]) -> None:
        """Writes the fused steps separately, for products that are not small."""
        if found.scratch:
            self.calls.append(Step(self._allocation(found.scratch), launches=True))
            self.declared.add(found.scratch.name)
        for index in range(first, first + found.groups):
            store = self.entry.schedule.groups[index].stores[0]
            if store.value.op is Op.LIBRARY:
                self._by_library(store, self._held_before(index))
            else:
                otherwise(index)

    def _tiles(self, found: Shared, factor: Written) -> Code:
        """The call of the fused kernel."""
        cpp = self._element(found.products[0])
        pointers = joined(", ", [pointer(tensor, cpp) for tensor in factor.needs.reads.values()])
        products = [self._tile_product(*both) for both in zip(found.products, found.sums, strict=True)]
        first = code("{factor}<{cpp}>{{{pointers}}}", factor=factor.name, cpp=cpp, pointers=pointers)
        listed = code("{{{products}}}", products=joined(", ", products))
        return laid_out(code("tile_products<{cpp}>", cpp=cpp), [first, listed], 100)

    def _tile_product(self, store: Store, sums: Store | None) -> Code:
        *bias, _, b = store.value.args
        held = self.entry.schedule.held
        last: list[Piece] = [
            sums.tensor.name if sums else "{}",
            *(library.viewed(arg, held, self.size) for arg in bias),
        ]
        given: list[Piece] = [library.viewed(b, held, self.size), store.tensor.name, str(is_transposed(store)).lower()]
        return code("{{{items}}}", items=joined(", ", [*given, *(last if sums or bias else ())]))
