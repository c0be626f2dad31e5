"""Products by kernels of ours where they turn out to be small, else by a library."""

from __future__ import annotations

from dataclasses import dataclass

from warpwright.compose.code.printer import laid_out
from warpwright.compose.code.text import Code, Piece, code, joined
from warpwright.compose.cuda import library
from warpwright.compose.cuda.host import Step
from warpwright.compose.cuda.kernel import Written, pointer
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.tensors import Store
from warpwright.compose.kernels.product import small, tile
from warpwright.compose.kernels.product.first_factor import first_factor
from warpwright.compose.kernels.product.shared_factor import Shared, is_transposed, shared
from warpwright.compose.kernels.registry import shape_alone
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group, base_of
from warpwright.compose.schedule.knobs import Config


class SmallProducts(Strategy):
    """Products along the rows of both factors; neighbours share a launch."""

    name = "small products"
    serves_several = True

    def serves(self, group: Group) -> bool:
        return group.own_step is Op.LIBRARY

    def applies(self, site: Site, config: Config) -> Fit | None:
        count = len(site.once("small products", lambda: _small(site)))
        return Fit(cost=0.9 / count, groups=count) if count else None

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        stores, given, start = _small(site), [], len(writer.calls)
        for store in stores:
            *bias, a, b = (library.viewed(arg, site.held, writer.size) for arg in store.value.args)
            given.append(code("{{{items}}}", items=joined(", ", [a, b, store.tensor.name, *bias])))
            writer.by_library(store, site)
        products, cpp = joined(", ", given), _element(stores[0], site, writer)
        writer.unless_taken(code("small_products<{cpp}>({{{products}}})", cpp=cpp, products=products), start)
        writer.kernels.append(small.product_kernels(site.graph.gpu))


def _small(site: Site) -> list[Store]:
    """The products from there on that are small and need none of each other."""
    stores: list[Store] = []
    for each in site.siblings[site.index : site.index + small.TOGETHER]:
        made = {store.value.number for store in stores}
        needs_another = any(base_of(arg).number in made for arg in each.first.value.args)
        if needs_another or not small.is_worth_it(each.first, site.graph.cases, site.graph.gpu):
            break
        stores.append(each.first)
    return stores


@dataclass(frozen=True, slots=True)
class _Tiles:
    """Products that share their first factor, and how that is read."""

    shared: Shared
    factor: Written


class TileProducts(Strategy):
    """Products that share their first factor, which may be computed as it is read; and sums of its columns."""

    name = "tile products"
    serves_several = True

    def serves(self, group: Group) -> bool:
        return True

    def applies(self, site: Site, config: Config) -> Fit | None:
        found = site.once("tiles", lambda: _tiles(site))
        if found is None:
            return None
        count, parts = found.shared.groups, _not_products(found.shared, site)
        return Fit(cost=0.1 / count, groups=count, shape=tuple(shape_alone(part, config) for part in parts))

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        found = _tiles(site)
        assert found is not None, "a strategy is written only where it applies"
        start = len(writer.calls)
        _one_by_one(found.shared, site, writer)
        writer.unless_taken(_call(found, site, writer), start)
        writer.kernels += [tile.tile_kernels(site.graph.gpu), found.factor]


def _tiles(site: Site) -> _Tiles | None:
    found = shared(site.entry.schedule, site.index, site.graph)
    if found is None:
        return None
    called = (found.scratch or site.held[found.factor.number]).name
    name = "".join(word.title() for word in f"{site.entry.name}_{called}".split("_"))
    factor = first_factor(name, called, found.factor, site.graph, site.held)
    return _Tiles(found, factor) if factor else None


def _not_products(found: Shared, site: Site) -> list[Site]:
    """What else is served with the products: their factor and sums of its columns."""
    served = site.siblings[site.index : site.index + found.groups]
    return [each for each in served if each.first.value.op is not Op.LIBRARY]


def _one_by_one(found: Shared, site: Site, writer: Writing) -> None:
    """The same in steps of their own, for what is not small."""
    if found.scratch:
        writer.calls.append(Step(writer.allocation(found.scratch), launches=True))
        writer.declared.add(found.scratch.name)
    for each in site.siblings[site.index : site.index + found.groups]:
        if each.first.value.op is Op.LIBRARY:
            writer.by_library(each.first, each)
        else:
            writer.serve(each, alone=True)


def _element(store: Store, site: Site, writer: Writing) -> str:
    """The type of the elements of a product, as the host writes it."""
    return "float" if small.type_of(store, site.graph.cases) == "float" else writer.scalar


def _call(found: _Tiles, site: Site, writer: Writing) -> Code:
    """The call that leaves everything at once."""
    cpp = _element(found.shared.products[0], site, writer)
    pointers = joined(", ", [pointer(tensor, cpp) for tensor in found.factor.needs.reads.values()])
    pairs = zip(found.shared.products, found.shared.sums, strict=True)
    products = [_product(product, sums, site, writer) for product, sums in pairs]
    first = code("{factor}<{cpp}>{{{pointers}}}", factor=found.factor.name, cpp=cpp, pointers=pointers)
    listed = code("{{{products}}}", products=joined(", ", products))
    return laid_out(code("tile_products<{cpp}>", cpp=cpp), [first, listed], 100)


def _product(store: Store, sums: Store | None, site: Site, writer: Writing) -> Code:
    *bias, _, b = store.value.args
    held = site.entry.schedule.held
    viewed = [library.viewed(arg, held, writer.size) for arg in bias]
    last: list[Piece] = [sums.tensor.name if sums else "{}", *viewed]
    is_turned = str(is_transposed(store)).lower()
    given: list[Piece] = [library.viewed(b, held, writer.size), store.tensor.name, is_turned]
    return code("{{{items}}}", items=joined(", ", [*given, *(last if sums or bias else ())]))


STRATEGIES = (SmallProducts(), TileProducts())
