"""The conventions of the house, as tests: who imports whom, how large files are, what rooms say of themselves."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HOUSE = ROOT / "src" / "warpwright"

LEVELS = {
    "core": 0,
    **dict.fromkeys(("sandbox", "cpp", "oracle", "ttir", "worker"), 1),
    **dict.fromkeys(("tasks", "seal"), 2),
    **dict.fromkeys(("emulate", "judge", "archive", "models"), 3),
    "prove": 4,
    "languages": 5,
    **dict.fromkeys(("verify", "faults", "export", "compose", "propose", "evolve", "dispatch", "report"), 6),
    "search": 7,
    "app": 8,
    "mcp": 9,
    "cli": 10,
    "__main__": 11,
}
TRAVELLING = {"core", "oracle", "judge"}
LIGHT = ("core", "sandbox", "cpp", "tasks", "seal", "languages")
HOMES = {
    "typer": {"cli"},
    "rich": {"cli"},
    "torch": {"oracle", "judge", "prove"},
    "numpy": {"ttir"},
    "sqlalchemy": {"archive"},
    "mcp": {"mcp"},
    "alembic": {"archive"},
}
# Loaders run the user's own code to see what it takes, the composer traces it; extras are imported where they are used.
LAZY_HOMES = {
    "torch": {"tasks", "compose"},
    "pydantic_ai": {"models"},
    "genai_prices": {"models"},
    "psycopg": {"archive"},
    "pyarrow": {"archive"},
}
# Code that runs beside a candidate in the sandbox and is imported nowhere else.
SANDBOXED = HOUSE / "languages" / "python" / "inside"
PYTHON_LINES, HEADER_LINES = 400, 600
VAGUE = re.compile(r"(^|_)(utils?|helpers?|common|managers?|misc)(_|$)")

SOURCES = sorted(HOUSE.rglob("*.py"))
PACKAGES = sorted(path.parent for path in HOUSE.rglob("__init__.py") if path.parent != HOUSE)
MOST_SIBLINGS = 14
# The composer's phases, by folder or file: a phase imports those before it.
PHASES = {
    "errors": 0,
    "code": 1,
    "ir": 2,
    **dict.fromkeys(("schedule", "frontend"), 3),
    "passes": 4,
    "entries": 5,
    "cuda": 6,
    "kernels": 7,
    "configs": 8,
    "plan": 9,
    "survey": 10,
    "__init__": 10,
}


def room_of(path: Path) -> str:
    """The folder directly in the house, or the file that lies there itself."""
    first = path.relative_to(HOUSE).parts[0]
    return first.removesuffix(".py")


def imports_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Every module a file imports, and whether it does so when it is imported itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lazy = {id(inner) for node in ast.walk(tree) if _deferred(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) not in lazy) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "warpwright" else []
            yield from ((name, id(node) not in lazy) for name in names or [str(node.module)])


def _deferred(node: ast.AST) -> bool:
    checking = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return checking or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def by_name(path: Path) -> str:
    return str(path.relative_to(HOUSE))


@pytest.mark.parametrize("path", SOURCES, ids=by_name)
def test_imports_point_strictly_down(path: Path) -> None:
    room = room_of(path)
    if room == "__init__":
        assert not [name for name, at_import in imports_of(path) if at_import and name.startswith("warpwright.")]
        return
    assert room in LEVELS, f"{room} is not a room of the house; give it a level"
    for name, _ in imports_of(path):
        if name.startswith("warpwright.") and name != "warpwright.__version__":
            other = name.split(".")[1]
            assert other == room or LEVELS[other] < LEVELS[room], f"{by_name(path)} may not import {name}"


@pytest.mark.parametrize("path", [path for path in SOURCES if room_of(path) == "compose"], ids=by_name)
def test_phases_of_the_composer_import_earlier_ones(path: Path) -> None:
    phase = path.relative_to(HOUSE / "compose").parts[0].removesuffix(".py")
    assert phase in PHASES, f"{phase} is no phase of the composer; give it a place"
    for name, _ in imports_of(path):
        if name.startswith("warpwright.compose."):
            other = name.split(".")[2]
            assert other == phase or PHASES[other] < PHASES[phase], f"{by_name(path)} may not import {name}"


@pytest.mark.parametrize("path", SOURCES, ids=by_name)
def test_third_party_packages_stay_at_home(path: Path) -> None:
    room = room_of(path)
    for name, at_import in imports_of(path):
        package = name.partition(".")[0]
        if package == "warpwright" or package in sys.stdlib_module_names:
            continue
        allowed = HOMES.get(package, set()) | (set() if at_import else LAZY_HOMES.get(package, set()))
        allowed |= {room} if path.is_relative_to(SANDBOXED) and package in ("torch", "triton") else set()
        assert room in allowed, f"{by_name(path)} imports {name}, whose home is {sorted(allowed) or 'nowhere'}"


@pytest.mark.parametrize("path", [path for path in SOURCES if room_of(path) in TRAVELLING], ids=by_name)
def test_the_travelling_crate_needs_only_torch(path: Path) -> None:
    """Nothing can be installed on the machine that core, oracle and judge travel to, and no other room is there."""
    for name, _ in imports_of(path):
        package, _, rest = name.partition(".")
        inside = package == "warpwright" and rest.partition(".")[0] in TRAVELLING | {"__version__"}
        assert inside or package == "torch" or package in sys.stdlib_module_names, f"{by_name(path)} imports {name}"


@pytest.mark.parametrize("path", SOURCES, ids=by_name)
def test_nobody_prints_but_a_face(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    printing = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_print(node.func)]
    assert room_of(path) == "cli" or not printing, f"{by_name(path)} prints in lines {printing}"


def _is_print(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id == "print"


def code_files() -> list[Path]:
    folders = (ROOT / "src", ROOT / "tests", ROOT / "suites", ROOT / "bench")
    kinds = {".py": PYTHON_LINES, ".h": HEADER_LINES, ".hpp": HEADER_LINES, ".cuh": HEADER_LINES, ".cpp": HEADER_LINES}
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in kinds)


@pytest.mark.parametrize("path", code_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_small_or_say_why_not(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    most = PYTHON_LINES if path.suffix == ".py" else HEADER_LINES
    excused = any("long because" in line.lower() for line in lines[:30])
    assert len(lines) <= most or excused, f"{len(lines)} lines; split it, or write at its head: Long because ..."


@pytest.mark.parametrize("room", PACKAGES, ids=by_name)
def test_a_room_names_every_file_it_holds(room: Path) -> None:
    docstring = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
    assert docstring, f"{room.name} says nothing of itself"
    named = {line.split()[0].rstrip("/") for line in docstring.splitlines() if line.strip()}
    held = {path.name for path in room.iterdir() if path.name not in ("__init__.py", "__pycache__")}
    assert held <= named, f"{room.name}/__init__.py does not name {sorted(held - named)}"
    stale = {name for name in named if name.endswith(".py")} - held
    assert not stale, f"{room.name}/__init__.py names {sorted(stale)}, which is not there"


@pytest.mark.parametrize("package", [HOUSE, *PACKAGES], ids=by_name)
def test_a_folder_holds_about_a_dozen_things(package: Path) -> None:
    held = [path.name for path in package.iterdir() if not path.name.startswith("__")]
    assert package == HOUSE or len(held) <= MOST_SIBLINGS, f"{by_name(package)} holds {len(held)}; group them"


@pytest.mark.parametrize("path", SOURCES, ids=by_name)
def test_names_say_what_is_inside(path: Path) -> None:
    assert not VAGUE.search(path.stem)
    assert not VAGUE.search(path.parent.name)


def modules_after(code: str) -> set[str]:
    """What a fresh interpreter has loaded after running `code`, which must print nothing itself."""
    script = f"{code}\nimport sys\nsys.stdout.write(' '.join(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=240)
    assert ran.stderr == ""
    return set(ran.stdout.split())


def test_importing_light_rooms_costs_nothing() -> None:
    names = [
        ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts)
        for path in SOURCES
        if room_of(path) in (*LIGHT, "app") and path.name != "__main__.py" and not path.is_relative_to(SANDBOXED)
    ]
    loaded = modules_after("".join(f"import {name}\n" for name in names))
    assert not loaded & {"torch", "numpy", "typer", "rich", "sqlite3"}


def test_the_command_line_loads_nothing_heavy() -> None:
    loaded = modules_after("import warpwright.cli.main")
    rooms = {name.split(".")[1] for name in loaded if name.startswith("warpwright.")}
    assert rooms <= {"core", "cli"}
    assert not loaded & {"torch", "numpy", "rich"}


ARCHITECTURE = ROOT / "docs" / "architecture.md"


def level_table() -> str:
    """The levels, highest first, as the documentation shows them."""
    rooms: dict[int, list[str]] = {}
    for room, level in LEVELS.items():
        if (HOUSE / room).is_dir():
            rooms.setdefault(level, []).append(f"`{room}`")
    rows = [f"| {level} | {', '.join(rooms[level])} |" for level in sorted(rooms, reverse=True)]
    return "\n".join(["| level | rooms |", "|---|---|", *rows])


def test_the_documented_levels_are_the_enforced_ones() -> None:
    page = ARCHITECTURE.read_text(encoding="utf-8")
    shown = re.search(r"<!-- levels -->\n(.*?)<!-- end of levels -->", page, re.DOTALL)
    assert shown is not None
    assert shown[1].strip() == level_table(), f"docs/architecture.md should show\n\n{level_table()}"
