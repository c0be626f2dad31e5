"""The registry of strategies: which of them serve a site, in what order, and which knobs follow."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module

from warpwright.compose import kernels
from warpwright.compose.errors import CannotCompose
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Strategy
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import Config, Knob
from warpwright.core.gpus.table import Gpu

Choice = list[tuple[Strategy, Fit]]
"""The strategies of a site: those that may decline first, then one that declines nothing."""


@cache
def strategies() -> tuple[Strategy, ...]:
    """All that the files of this folder define."""
    modules = pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}.")
    found = [strategy for item in modules for strategy in getattr(import_module(item.name), "STRATEGIES", ())]
    return tuple(sorted(found, key=lambda strategy: (strategy.declines, strategy.name)))


def serving(group: Group) -> Iterator[Strategy]:
    """Every strategy for groups of that kind, and for those it is made of."""
    for strategy in strategies():
        if strategy.serves(group):
            for part in strategy.parts(group):
                yield from serving(part)
            yield strategy


def knobs_of(groups: Iterable[Group], gpu: Gpu) -> dict[str, Knob]:
    """The knobs of all strategies that may serve these groups, by name."""
    return {knob.name: knob for group in groups for strategy in serving(group) for knob in strategy.knobs(gpu)}


def overrides_of(groups: Iterable[Group]) -> dict[str, object]:
    """Defaults of knobs that strategies want changed beside them."""
    found: dict[str, object] = {}
    for group in groups:
        for strategy in serving(group):
            found |= strategy.overrides
    return found


def chosen(site: Site, config: Config, alone: bool = False) -> Choice:
    """Those that may decline serve as many groups as the one that takes the rest; `alone` leaves out what may serve
    more groups than the site's own."""
    asked = (strategy for strategy in strategies() if strategy.serves(site.group))
    fits = ((strategy, strategy.applies(site, config)) for strategy in asked if not (alone and strategy.serves_several))
    found = [(strategy, fit) for strategy, fit in fits if fit]
    found.sort(key=lambda item: (item[1].cost, item[0].name))
    whole = next((item for item in found if not item[0].declines), None)
    if whole is None:
        raise CannotCompose(f"aten.{site.first.value.op}")
    return [*(item for item in found if item[0].declines and item[1].groups == whole[1].groups), whole]


def shape_alone(site: Site, config: Config) -> object:
    """What the kernels of a site alone take from a config."""
    return tuple((strategy.name, fit.shape) for strategy, fit in chosen(site, config, alone=True))


def shapes(sites: Sequence[Site], config: Config) -> list[object]:
    """All that the kernels of an entry point take from a config."""
    found: list[object] = []
    index = 0
    while index < len(sites):
        choice = chosen(sites[index], config)
        found.append([(strategy.name, fit.shape) for strategy, fit in choice])
        index += choice[-1][1].groups
    return found
