"""Describes where a result is wrong: the worst element, the number of wrong ones, rows, columns and patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from warpwright.oracle.truth.expected import Expected

_TILES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def where_wrong(expected: Expected, actual: torch.Tensor, correct: torch.Tensor, rows: bool = False) -> dict[str, Any]:
    """Returns facts about the wrong elements, with a sentence that summarises them."""
    wrong = ~correct
    worst = _worst(expected, actual, wrong, rows)
    facts: dict[str, Any] = {
        "wrong": int(wrong.sum()),
        "of": wrong.numel(),
        "worst": [int(index) for index in worst],
        "got": float(actual[worst]) if actual.numel() else None,
        "expected": None if rows else float(expected.value[worst]),
        **_cluster(wrong),
    }
    facts["sentence"] = _sentence(facts, rows)
    return facts


def _worst(expected: Expected, actual: torch.Tensor, wrong: torch.Tensor, rows: bool) -> tuple[int, ...]:
    if rows or not expected.value.is_floating_point():
        badness = wrong.to(torch.float64)
    else:
        badness = torch.where(wrong, (actual.to(torch.float64) - expected.value).abs(), -1.0)
        badness = torch.where(badness.isnan(), torch.inf, badness)
    flat = int(badness.reshape(-1).argmax())
    return tuple(int(index) for index in torch.unravel_index(torch.tensor(flat), wrong.shape)) if wrong.dim() else ()


def _cluster(wrong: torch.Tensor) -> dict[str, Any]:
    """Finds the first and last wrong rows and columns, and the tile after which columns are wrong, if there is one."""
    if not wrong.dim():
        return {}
    table = wrong.reshape(-1, wrong.shape[-1])
    bad_rows, bad_columns = table.any(1).nonzero().flatten(), table.any(0).nonzero().flatten()
    found: dict[str, Any] = {
        "rows": [int(bad_rows[0]), int(bad_rows[-1])],
        "rows_wrong": len(bad_rows),
        "rows_of": table.shape[0],
        "columns": [int(bad_columns[0]), int(bad_columns[-1])],
        "columns_wrong": len(bad_columns),
        "columns_of": table.shape[1],
    }
    if pattern := _pattern(bad_columns.tolist(), table.shape[1]):
        found["pattern"] = pattern
    return found


def _pattern(columns: list[int], total: int) -> str | None:
    if len(columns) == total:
        return None
    if columns == list(range(columns[0], total)):
        tile = max((tile for tile in _TILES if columns[0] % tile == 0), default=None)
        note = f", a multiple of {tile}" if columns[0] and tile else ""
        return f"every column from {columns[0]}{note} to the end"
    for tile in _TILES[1:]:
        residues = {column % tile for column in columns}
        if len(columns) > 2 and len(residues) == 1 and len(columns) == len(range(columns[0], total, tile)):
            return f"columns {residues.pop()} modulo {tile}"
    if columns == list(range(columns[0], columns[-1] + 1)) and len(columns) > 1:
        return f"columns {columns[0]} to {columns[-1]}"
    return None


def _sentence(facts: dict[str, Any], rows: bool) -> str:
    if rows:
        count = f"{facts['wrong']} of {facts['of']} rows are too coarse on the whole"
        return f"{count}, first at {facts['worst'][:-1]} (root mean square error {facts['got']:.3g})"
    parts = [f"{facts['wrong']} of {facts['of']} elements wrong"]
    parts.append(f"worst at {facts['worst']}: got {facts['got']:.9g}, expected {facts['expected']:.9g}")
    if facts.get("rows_wrong", 0) < facts.get("rows_of", 0):
        parts.append(f"in rows {facts['rows'][0]} to {facts['rows'][1]} ({facts['rows_wrong']} of {facts['rows_of']})")
    if "pattern" in facts:
        parts.append(facts["pattern"])
    return "; ".join(parts)
