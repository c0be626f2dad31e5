"""What the composer writes for a task, as data: the strategies that serve it and its functions as statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from warpwright.compose import Composable
from warpwright.compose import plan as plan_of
from warpwright.compose.code.definitions import Definition
from warpwright.compose.code.passes.headers import headers_of
from warpwright.compose.code.statements import Assign, Barrier, If, Launch, Let, Loop, Node, Wait
from warpwright.compose.code.text import Code
from warpwright.compose.code.traversal import expressions, nodes
from warpwright.compose.kernels.registry import chosen
from warpwright.compose.kernels.site import sites_of
from warpwright.tasks import load


class Function:
    """A kernel, a launcher or an entry point. Places are positions among its statements, in the order of the text."""

    def __init__(self, item: Definition) -> None:
        self.item = item
        self.name = item.head.split()[-1]
        self.parameters = [parameter.name for parameter in item.parameters]
        self.statements = list(nodes(item.body))

    def _where(self, test: Callable[[Node], bool]) -> list[int]:
        return [place for place, node in enumerate(self.statements) if test(node)]

    def reads(self, *names: str) -> list[int]:
        """Where one expression reads all of them."""
        return self._where(lambda node: any(set(names) <= item.names for item in own(node)))

    def calls(self, *functions: str, reading: tuple[str, ...] = ()) -> list[int]:
        """Where one of the functions is called by an expression that reads those names."""
        return self._where(
            lambda node: any(
                any(called(item, function) for function in functions) and set(reading) <= item.names
                for item in own(node)
            )
        )

    def declares(self, name: str) -> list[int]:
        return self._where(lambda node: getattr(node, "name", None) == name)

    def assigns(self, name: str) -> list[int]:
        """Where something is assigned to a variable, or to an element of it."""
        return self._where(lambda node: hasattr(node, "target") and name in node.target.names)

    @property
    def expressions(self) -> list[Code]:
        return list(expressions(self.item.body))

    @property
    def lets(self) -> list[Let]:
        return [node for node in self.statements if isinstance(node, Let) and node.value is not None]

    @property
    def clears(self) -> list[Node]:
        """Assignments of zeros to shared memory, four at a time."""
        return [node for node in self.statements if isinstance(node, Assign) and node.value.text == "float4{}"]

    def returns_of(self, function: str) -> list[Node]:
        """Statements that return what another function returns."""
        return [
            node for node in self.statements if any(item.text.startswith(f"return {function}(") for item in own(node))
        ]

    @property
    def barriers(self) -> list[int]:
        return self._where(lambda node: isinstance(node, Barrier))

    @property
    def grid_barriers(self) -> list[int]:
        return self._where(lambda node: isinstance(node, Barrier) and node.value.text == "grid.sync()")

    @property
    def waits(self) -> list[int]:
        return self._where(lambda node: isinstance(node, Wait))

    @property
    def launches(self) -> list[Launch]:
        return [node for node in self.statements if isinstance(node, Launch)]

    @property
    def conditions(self) -> list[str]:
        return [node.test.text for node in self.statements if isinstance(node, If)]

    def loops_over(self, variable: str) -> list[int]:
        return self._where(lambda node: isinstance(node, Loop) and f" {variable} = " in node.head.text)

    def value(self, name: str) -> str:
        """The first value of a variable."""
        return next(node.value.text for node in self.statements if isinstance(node, Let) and node.name == name)

    def extent(self, name: str) -> str:
        return self.extents(name)[0]

    def extents(self, name: str) -> list[str]:
        """The lengths of the arrays of that name."""
        return [node.extent.text for node in self.statements if isinstance(node, Let) and node.name == name]


def own(node: Node) -> Iterator[Code]:
    """The expressions of a statement without those of the statements in it."""
    for name in type(node).__dataclass_fields__:
        value = getattr(node, name)
        yield from (item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, Code))


def called(item: Code, function: str) -> bool:
    """Whether an expression calls a function, by itself or at its beginning."""
    text = item.text
    return any(found.text == function for found in item.functions) or (
        text == function or text.startswith((f"{function}<", f"{function}("))
    )


class Composed:
    """One source, before it is printed."""

    def __init__(self, plan: Composable, config: dict[str, Any]) -> None:
        self.plan, self.config = plan, {**plan.usual, **config}
        self.items = plan.program(config)
        self.functions = [Function(item) for item in self.items if isinstance(item, Definition)]
        self.headers = headers_of(self.items)

    @property
    def kernels(self) -> list[Function]:
        return [function for function in self.functions if function.item.is_kernel]

    @property
    def names(self) -> list[str]:
        return [function.name for function in self.functions]

    def function(self, name: str) -> Function:
        """The function with that name or, if there is only one, that ending."""
        (found,) = [item for item in self.functions if item.name == name] or [
            item for item in self.functions if item.name.endswith(name)
        ]
        return found

    def strategies(self, entry: int = 0) -> list[list[str]]:
        """The strategies of every group of an entry point, those that may decline first."""
        return [[strategy.name for strategy, _ in choice] for choice in self._choices(entry)]

    def serving(self) -> set[str]:
        """Every strategy that serves some group."""
        entries = range(len(self.plan.entries))
        return {name for entry in entries for choice in self.strategies(entry) for name in choice}

    def shapes(self, strategy: str, entry: int = 0) -> list[Any]:
        """What the kernels of a strategy take from the config, for each group that it serves."""
        return [fit.shape for choice in self._choices(entry) for found, fit in choice if found.name == strategy]

    def _choices(self, entry: int) -> list[Any]:
        return [chosen(site, self.config) for site in sites_of(self.plan.entries[entry])]


@cache
def planned(name: str, gpu: str) -> Composable:
    (task,) = load(name)
    return plan_of(task, gpu)


@pytest.fixture(scope="session")
def composed() -> Callable[..., Composed]:
    """A task of the suites, composed with some knobs turned."""

    @cache
    def found(name: str, gpu: str = "h200", **config: object) -> Composed:
        return Composed(planned(name, gpu), config)

    return found


@pytest.fixture(scope="session")
def function_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Composed]:
    """A function of one's own, composed: the names of its arguments, its body, its inputs."""

    @cache
    def found(names: str, body: str, *inputs: str, direction: str = "forward") -> Composed:
        path: Path = tmp_path_factory.mktemp("own") / "ref.py"
        text = f"import torch\nimport torch.nn.functional as F\n\ndef f({names}):\n    {body}\n"
        path.write_text(text, encoding="utf-8")
        (task,) = load(f"{path}:f", inputs=list(inputs), direction=direction)
        return Composed(plan_of(task), {})

    return found
