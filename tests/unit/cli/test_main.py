"""The face: help for everything, one sentence for every error, the right exit code, no traceback unless asked."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from warpwright import __version__
from warpwright.cli import main
from warpwright.core.errors import Exit, OurFault, TaskError, Undecided, UsageError
from warpwright.core.records.evidence import Fault


def commands_of(group: Any, *before: str) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, *before, name)
        else:
            yield (*before, name)


COMMANDS = sorted(commands_of(typer.main.get_command(main.app)))
RAISED = [
    (UsageError("no such task"), Exit.WRONG_USE, "no such task"),
    (TaskError("task.toml", "dtypes", "odd"), Exit.WRONG_USE, "task.toml, dtypes: odd"),
    (Undecided("no GPU here"), Exit.UNDECIDED, "no GPU here"),
    (OurFault(Fault(where="nvcc", message="vanished")), Exit.OUR_FAULT, "nvcc: vanished"),
    (KeyError("x"), Exit.OUR_FAULT, "KeyError: 'x'"),
    # Typer itself would end these two with exit code 1, which means "refuted".
    (EOFError(), Exit.OUR_FAULT, "EOFError"),
    (BrokenPipeError(32, "a worker is gone"), Exit.OUR_FAULT, "a worker is gone"),
    (OSError(errno.ENAMETOOLONG, "", "a" * 5000), Exit.WRONG_USE, "aaa...: File name too long"),
    (PermissionError(errno.EACCES, "", "locked"), Exit.WRONG_USE, "warpwright: locked: Permission denied"),
    (OSError(errno.ENOSPC, ""), Exit.OUR_FAULT, "warpwright: No space left on device"),
    (FileNotFoundError(errno.ENOENT, "", "ours"), Exit.OUR_FAULT, "our fault, not yours"),
    (UsageError("forged\x1b[2J\rHolds"), Exit.WRONG_USE, "forged\ufffd[2J\ufffdHolds"),
    (RuntimeError("deep\nand dark"), Exit.OUR_FAULT, "(RuntimeError: deep)"),
]


def run_raising(error: BaseException, *options: str):
    app = typer.Typer(cls=main.Face, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback()(main._options)

    @app.command()
    def fail() -> None:
        raise error

    return CliRunner().invoke(app, [*options, "fail"])


@pytest.mark.parametrize(("error", "code", "sentence"), RAISED, ids=lambda value: type(value).__name__)
def test_an_error_is_one_sentence_and_an_exit_code(error: Exception, code: Exit, sentence: str) -> None:
    result = run_raising(error)
    assert result.exit_code == code
    assert result.stdout == ""
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


def test_debug_adds_the_traceback() -> None:
    result = run_raising(UsageError("no such task"), "--debug")
    assert result.exit_code == Exit.WRONG_USE
    assert "Traceback" in result.stderr


def test_an_interrupt_is_not_a_verdict() -> None:
    assert run_raising(KeyboardInterrupt()).exit_code == 130


def test_our_fault_says_what_to_report() -> None:
    assert "our fault, not yours" in run_raising(ZeroDivisionError("by zero")).stderr


def test_the_package_can_be_run_by_its_name() -> None:
    ran = subprocess.run([sys.executable, "-m", "warpwright", "--version"], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"warpwright {__version__}\n", "")


def test_debug_may_stand_anywhere(warpwright) -> None:
    ran = warpwright("tasks", "list", "--suite", "nowhere", "--debug")
    assert ran.returncode == Exit.WRONG_USE
    assert "Traceback" in ran.stderr


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["tasks", "show"], ["tasks", "list", "--colour"], ["doctor", "now"]]
)
def test_wrong_use_is_exit_code_two(warpwright, arguments: list[str]) -> None:
    ran = warpwright(*arguments)
    assert ran.returncode == Exit.WRONG_USE
    assert "Error: " in ran.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_json_and_help_with_an_example(command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main.app, [*command, "--help"])
    assert result.exit_code == 0
    assert "--json" in result.stdout
    assert f"Example: warpwright {' '.join(command)}" in result.stdout
    assert not re.search(r"--[\w-]+ <", result.stdout), "a type of Python's says nothing to a user"


def test_version(warpwright) -> None:
    assert warpwright("--version").stdout == f"warpwright {__version__}\n"


def test_json_survives_a_reader_that_goes_away() -> None:
    """The document is larger than a pipe, so that a reader which stops early breaks it."""
    code = (
        "from warpwright.cli.output import emit; emit('x/1', text='y' * 10**6);"
        "import sys; sys.stderr.write('went on'); sys.exit(3)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        os.read(child.stdout.fileno(), 10)
        child.stdout.close()
        assert child.stderr.read() == b"went on"
    assert child.returncode == 3


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["tasks", "list"], ["tasks", "list", "--json"]])
def test_a_full_disk_is_no_verdict(arguments: list[str]) -> None:
    code = "from warpwright.cli.main import main; main()"
    with open("/dev/full", "w") as full:
        ran = subprocess.run([sys.executable, "-c", code, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (ran.returncode, ran.stderr) == (4, "warpwright: No space left on device\n")


def test_json_does_without_a_reader() -> None:
    code = "import os, sys; sys.stdout = None; from warpwright.cli.output import emit; emit('x/1'); sys.exit(3)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 3


@pytest.mark.parametrize("said", ["\x1b[2J\x1b[H", "\r", "\x9b2J", "\u202e", "\udcff", "\x07"])
def test_what_others_say_moves_no_cursor(said: str) -> None:
    from warpwright.cli.screen import plain

    shown = plain(f"é\tline 1\n{said}[bold]Holds")
    assert said not in shown
    assert shown.startswith("é\tline 1\n\ufffd")
    assert shown.endswith("\\[bold]Holds")


def test_json_names_its_schema(warpwright) -> None:
    document = json.loads(warpwright("doctor", "--json").stdout)
    assert document["schema"] == "warpwright.doctor/1"


@pytest.mark.parametrize("group", [(), *sorted({(command[0],) for command in COMMANDS if len(command) > 1})])
def test_a_group_says_of_each_command_what_it_does_in_a_whole_sentence(group: tuple[str, ...]) -> None:
    said = CliRunner().invoke(main.app, [*group, "--help"]).stdout
    assert "..." not in said.partition("Commands:")[2]
    assert "Example: warpwright" in said


def test_a_narrow_terminal_loses_no_letter(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from warpwright.cli import screen

    monkeypatch.setattr(screen, "PIPE_WIDTH", 40)
    screen.show_table(
        ("run", "how to get it"), [("tune-83e6a1b2c3d4", "export ANTHROPIC_API_KEY_OF_YOURS"), ("a", "b")]
    )
    shown = capsys.readouterr().out
    assert "…" not in shown
    rows = [line.split() for line in shown.splitlines()]
    assert "ANTHROPIC_API_KEY_OF_YOURS" in "".join(row[-1] for row in rows if row)
