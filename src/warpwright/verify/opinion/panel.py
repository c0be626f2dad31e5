"""The panel of verifiers: instructions as Markdown files, everything else in a TOML table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warpwright.core.codec import decode
from warpwright.core.records.rungs import LADDER
from warpwright.verify.opinion.votes import Prior, Record

FOLDER = Path(__file__).resolve().parent / "prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """A verifier: its instruction, the rungs whose HOLDS settles its question, the bugs it looks for, and its
    record.
    """

    name: str
    instruction: str
    settled_by: tuple[str, ...] = ()
    catches: tuple[str, ...] = ()
    record: Record = field(default_factory=Record)

    def __post_init__(self) -> None:
        if unknown := [name for name in self.settled_by if name not in LADDER]:
            raise ValueError(f"settled_by: there is no rung '{unknown[0]}'; one of {', '.join(LADDER)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    verifiers: tuple[Verifier, ...]
    prior: Prior = field(default_factory=Prior)

    @property
    def records(self) -> Mapping[str, Record]:
        return {verifier.name: verifier.record for verifier in self.verifiers}


def read_panel(folder: Path = FOLDER) -> Panel:
    """Reads a panel from a folder: verifiers.toml, and one instruction for each verifier."""
    table = tomllib.loads((folder / "verifiers.toml").read_text(encoding="utf-8"))
    prior = decode(Prior, table.pop("prior"), "prior")
    return Panel(verifiers=tuple(_verifier(folder, name, entry) for name, entry in table.items()), prior=prior)


def _verifier(folder: Path, name: str, entry: dict[str, object]) -> Verifier:
    counts = {key: value for key, value in entry.items() if key not in ("settled_by", "catches")}
    rest = {key: value for key, value in entry.items() if key in ("settled_by", "catches")}
    instruction = (folder / f"{name}.md").read_text(encoding="utf-8")
    return decode(Verifier, {"name": name, "instruction": instruction, **rest, "record": counts}, name)  # type: ignore[no-any-return]


def write_panel(panel: Panel, folder: Path) -> None:
    """Writes a panel to a folder that read_panel reads."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["[prior]", f"right = {panel.prior.right}", f"wrong = {panel.prior.wrong}"]
    for verifier in panel.verifiers:
        (folder / f"{verifier.name}.md").write_text(verifier.instruction, encoding="utf-8")
        lines += ["", f"[{verifier.name}]", *_rows(verifier)]
    (folder / "verifiers.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _rows(verifier: Verifier) -> list[str]:
    lists: Mapping[str, Sequence[str]] = {"settled_by": verifier.settled_by, "catches": verifier.catches}
    rows = [f"{key} = [{', '.join(map(_toml_string, items))}]" for key, items in lists.items()]
    counts = ("passed_right", "failed_right", "passed_wrong", "failed_wrong")
    return rows + [f"{name} = {getattr(verifier.record, name)}" for name in counts]


def _toml_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
