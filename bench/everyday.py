"""Functions of others and of the table tests/corpus/functions.txt, each tried as `check` tries a function."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwright.core.calls import elements
from warpwright.core.errors import TaskError, WarpwrightError
from warpwright.core.task import Draw, Role, Task
from warpwright.tasks.find import load

if TYPE_CHECKING:
    from warpwright.oracle.controls.wrong import Prepared

TABLE = Path(__file__).parents[1] / "tests" / "corpus" / "functions.txt"
SEED = 1000
"""The first seed of draws that no check uses."""
MOST_ELEMENTS = 1 << 19
_FILE = "import torch\nimport torch.nn.functional as F\n\n\ndef {name}({arguments}):\n    return {body}\n"
_PROBLEM = """import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, {arguments}):
        return {body}


def get_inputs():
    return [{given}]


def get_init_inputs():
    return []
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Everyday:
    """A function of the table."""

    name: str
    inputs: tuple[str, ...]
    body: str

    def source(self) -> str:
        return _FILE.format(name=self.name, arguments=", ".join("abcd"[: len(self.inputs)]), body=self.body)

    def problem(self) -> str:
        """The function as a KernelBench file."""
        given = ", ".join(map(_drawn, self.inputs))
        return _PROBLEM.format(arguments=", ".join("abcd"[: len(self.inputs)]), body=self.body, given=given)

    def described(self, dtype: str) -> list[str]:
        """The inputs, floating ones in a dtype."""
        return [text if ":" in text else f"{text}:{dtype}" for text in self.inputs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A function to be tried, in one dtype."""

    name: str
    dtype: str
    file: str
    function: Everyday | None = None


@dataclass(slots=True, kw_only=True)
class Found:
    """What happened to the honest answers of one function."""

    name: str
    dtype: str
    not_loaded: str | None = None
    unusable: str | None = None
    """Why checks would not use the function."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Distributions that checks would not use, with the reason."""
    refuted: list[str] = field(default_factory=list)
    draws: int = 0
    seconds: float = 0.0


def _drawn(text: str) -> str:
    shape, _, kind = text.partition(":")
    if not kind:
        return f"torch.randn({shape.rstrip(',')})"
    dtype, _, below = kind.partition("<")
    return f"torch.randint(0, {below or 100}, ({shape},), dtype=torch.{dtype})".replace(",,", ",")


def everyday(table: Path = TABLE) -> list[Everyday]:
    lines = [line for line in table.read_text().splitlines() if line and not line.startswith("#")]
    rows = [[part.strip() for part in line.split("|", 2)] for line in lines]
    return [
        Everyday(name=name, inputs=tuple(map(str.strip, given.split(";"))), body=body) for name, given, body in rows
    ]


def items(folders: Sequence[Path], dtypes: Sequence[str], functions: Sequence[Everyday], place: Path) -> Iterator[Item]:
    for folder in folders:
        for path in sorted(folder.rglob("*.py") if folder.is_dir() else [folder]):
            yield from (Item(name=path.stem, dtype=dtype, file=str(path)) for dtype in dtypes)
    for function in functions:
        path = place / f"{function.name}.py"
        path.write_text(function.source())
        yield from (Item(name=function.name, dtype=dtype, file=str(path), function=function) for dtype in dtypes)


def tried(item: Item, seconds: float, out: Path) -> Found:
    """Tries an item unless a line of the file tells what was found before; adds a line for it."""
    known = {(found.name, found.dtype): found for found in read(out)}
    if (item.name, item.dtype) in known:
        return known[item.name, item.dtype]
    found = _tried(item, seconds)
    with out.open("a") as file:
        file.write(json.dumps(asdict(found)) + "\n")
    return found


def read(out: Path) -> list[Found]:
    return [Found(**json.loads(line)) for line in out.read_text().splitlines()] if out.is_file() else []


def _tried(item: Item, seconds: float) -> Found:
    found, start = Found(name=item.name, dtype=item.dtype), time.monotonic()
    try:
        task = _task(item)
    except WarpwrightError as error:
        found.not_loaded = str(error)
        return found
    try:
        _fill(found, task, start + seconds)
    except TaskError as error:
        found.unusable = str(error)
    except Exception as error:  # one function must not end the survey; the table shows it
        found.refuted.append(f"failed: {type(error).__name__}: {error}")
    found.seconds = time.monotonic() - start
    return found


def _task(item: Item) -> Task:
    if item.function:
        return load(f"{item.file}:{item.name}", inputs=item.function.described(item.dtype))[0]
    task = load(item.file)[0]
    return replace(task, cases=tuple(replace(case, dtype=item.dtype) for case in task.cases), dtypes=(item.dtype,))


def _fill(found: Found, task: Task, until: float) -> None:
    from warpwright.seal.cache import Store, default_root
    from warpwright.verify.own_task import fitness

    small = [case for case in task.cases if elements(task, case) <= MOST_ELEMENTS or case.role is Role.CHECK]
    task = replace(task, cases=tuple(small))
    fit = fitness(task, Store(root=default_root()))
    found.unusable = fit.problem
    if fit.problem is not None:
        return
    for name in (name for name in task.distributions if name not in fit.distributions):
        found.left_out[name] = _why(task, name)
    for draw in _draws(replace(task, distributions=fit.distributions)):
        if time.monotonic() > until:
            return
        found.refuted += _refuted(task, draw)
        found.draws += 1


def _draws(task: Task) -> Iterator[Draw]:
    from warpwright.oracle.inputs.draws import draws_of

    cases = [case for case in task.cases if case.role in (Role.CHECK, Role.ENVELOPE)]
    few = [case for case in cases if elements(task, case) <= MOST_ELEMENTS]
    yield from draws_of(task, few or cases[:1], SEED)


def _why(task: Task, name: str) -> str:
    from warpwright.oracle.controls.fitness import refuted_honest
    from warpwright.oracle.inputs.draws import check_draws

    for draw in (draw for draw in check_draws(task) if draw.distribution == name):
        try:
            why = refuted_honest(_prepared(task, draw))
        except TaskError as error:
            return str(error)
        if why:
            return why
    return "unknown"


def _refuted(task: Task, draw: Draw) -> list[str]:
    from warpwright.oracle.controls.fitness import refuted_honest

    where = f"{draw.case.name}, {draw.distribution}, seed {draw.seed}"
    try:
        at = _prepared(task, draw)
    except TaskError:
        return []  # checks leave the draw out
    why = refuted_honest(at)
    return [f"{where}: {why}"] if why else []


def _prepared(task: Task, draw: Draw) -> Prepared:
    from warpwright.oracle.controls.wrong import Prepared
    from warpwright.oracle.truth.expected import expectations, scenario

    given = scenario(task, draw)
    return Prepared(task=task, draw=draw, given=given, expected=expectations(task, draw, given))
