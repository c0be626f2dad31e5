"""Changes to correct kernels: each to another formula, or to the same formula written otherwise."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "tests" / "corpus" / "seal"
_HEADING = re.compile(r"// task: (\S+)\s+dtypes: (\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    kernel: str
    what: str
    is_equal: bool
    """Whether the formula is the same."""
    task: str
    dtype: str
    source: str

    @property
    def name(self) -> str:
        return f"{self.kernel}: {self.what}"


def changes() -> Iterator[Change]:
    """Yields every change, kernel by kernel."""
    table = tomllib.loads((Path(__file__).parent / "changes.toml").read_text(encoding="utf-8"))
    for kernel in table["kernel"]:
        for kind in ("different", "equal"):
            for entry in kernel.get(kind, ()):
                yield _change(kernel["name"], entry, is_equal=kind == "equal")


def _change(kernel: str, entry: dict[str, str], *, is_equal: bool) -> Change:
    source = (CORPUS / f"{kernel}.cu").read_text(encoding="utf-8")
    heading = _HEADING.match(source)
    if heading is None or source.count(entry["old"]) != 1:
        raise ValueError(f"{kernel}: {entry['what']}: the text to replace does not occur once")
    return Change(
        kernel=kernel,
        what=entry["what"],
        is_equal=is_equal,
        task=heading[1],
        dtype=heading[2],
        source=source.replace(entry["old"], entry["new"]),
    )
