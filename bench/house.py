"""Measures a tree of Warpwright: `python bench/house.py [ROOT]`. Sizes of folders, files and functions, and imports
within the composer, which lies in `compose/`, or in `propose/composer/` in older trees."""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path


def main(root: str = ".") -> None:
    house = Path(root) / "src" / "warpwright"
    files = sorted(house.rglob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    functions = {f"{path.relative_to(house)}:{node.lineno}": length for path in files
                 for node, length in functions_of(trees[path])}  # fmt: skip
    folder, siblings = max(
        ((path, len(children(path))) for path in {path.parent for path in files}), key=lambda of: of[1]
    )
    longest = max(functions, key=functions.__getitem__)
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    print(f"files                {len(files)}, {sum(lines.values())} lines, the longest {max(lines.values())}")
    print(f"siblings in a folder {siblings} at most, in {folder.relative_to(house)}")
    print(f"functions            {len(functions)}, median {statistics.median(functions.values()):g} lines, "
          f"longest {functions[longest]} ({longest})")  # fmt: skip
    composer = next(path for path in (house / "compose", house / "propose" / "composer") if path.is_dir())
    edges = {(path.relative_to(composer), other) for path in files if path.is_relative_to(composer)
             for other in imported(trees[path], composer.relative_to(house.parent))}  # fmt: skip
    between = {(path.parts[0].removesuffix(".py"), other[0]) for path, other in edges} - {
        (one, one) for _, (one, *_) in edges
    }
    mutual = sorted({tuple(sorted(edge)) for edge in between if edge[::-1] in between})
    print(f"composer             {len(edges)} imports between its files; between its folders and files at the top "
          f"{len(between)}, of which in both directions: {mutual or 'none'}")  # fmt: skip


def children(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not path.name.startswith("__")]


def functions_of(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """Each function with its lines, from its name on."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1


def imported(tree: ast.Module, package: Path) -> Iterator[tuple[str, ...]]:
    """The modules below a package that a file imports, as the parts of their names."""
    prefix = ".".join(package.parts) + "."
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(prefix) and f"{node.module}." != prefix:
            yield tuple(str(node.module).removeprefix(prefix).split("."))


if __name__ == "__main__":
    main(*sys.argv[1:])
