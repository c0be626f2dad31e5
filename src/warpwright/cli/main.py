"""The command `warpwright`. Exit codes: 0 holds, 1 refuted, 2 wrong use, 3 undecided, 4 our fault."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from warpwright import __version__
from warpwright.cli import doctor, mcp, warm
from warpwright.cli.bench import bench, bundle
from warpwright.cli.check import check, compose, export, prove, seal, verifiers
from warpwright.cli.demo import demo
from warpwright.cli.output import visible
from warpwright.cli.search import archive, optimize, prices, report, runs
from warpwright.cli.tasks import tasks
from warpwright.core.errors import Exit, WarpwrightError


class Face(TyperGroup):
    """Turns an exception of a command into one sentence and an exit code.

    Typer would map some exceptions to exit code 1, which here means "refuted".
    """

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, typer.TyperException):
            raise
        except Exception as error:
            if ctx.params.get("debug"):
                traceback.print_exc()
            raise typer.Exit(complain(error)) from None


REFUSALS = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG), Exit.WRONG_USE),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), Exit.OUR_FAULT),
}
"""Errors of the file system, which the user can correct."""


def complain(error: Exception) -> Exit:
    """Prints the error on stderr and returns its exit code."""
    if isinstance(error, WarpwrightError):
        typer.echo(f"warpwright: {visible(str(error))}", err=True)
        return error.exit_code
    if isinstance(error, OSError) and error.errno in REFUSALS:
        place = "" if error.filename is None else f"{_short(os.fsdecode(error.filename))}: "
        typer.echo(f"warpwright: {place}{os.strerror(error.errno)}", err=True)
        return REFUSALS[error.errno]
    what = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
    report = "please report it with the command you ran and what --debug adds"
    typer.echo(f"warpwright: our fault, not yours ({what}); {report}", err=True)
    return Exit.OUR_FAULT


def _short(path: str, most: int = 200) -> str:
    return path if len(path) <= most else f"{path[:most]}..."


app = typer.Typer(
    name="warpwright",
    cls=Face,
    help="PyTorch functions in, CUDA kernels out: verified, measured honestly, and faster.",
    epilog="Example: warpwright tasks show layernorm",
    no_args_is_help=True,
    # Rich takes too long to import for a help text, and tracebacks are shown only with --debug.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"warpwright {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; allowed anywhere.")] = False,
    no_worker: Annotated[
        bool, typer.Option(warm.FLAG, help="Use no process that stays for the next command; allowed anywhere.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Options of every command."""


app.command("check", epilog="Example: warpwright check layernorm.cu --task layernorm")(check.check)
app.command("bench", epilog="Example: warpwright bench layernorm.cu --task layernorm")(bench.bench)
app.command("compare", epilog="Example: warpwright compare a.cu b.cu --task layernorm")(bench.compare)
app.command("optimize", epilog="Example: warpwright optimize layernorm --model anthropic:NAME --budget 5")(
    optimize.optimize
)
app.command("compose", epilog="Example: warpwright compose KernelBench/level1 --out kernels")(compose.compose)
app.command("translate", epilog="Example: warpwright translate ref.py:fn --input 8,512 --model mailbox:answers")(
    optimize.translate
)
app.command("repair", epilog="Example: warpwright repair layernorm.cu --task layernorm --model anthropic:NAME")(
    optimize.repair
)
app.command("tune", epilog="Example: warpwright tune kernel.cu --task layernorm")(optimize.tune)
app.command("prices", epilog="Example: warpwright prices anthropic:claude-sonnet-4-5")(prices.prices)
app.command("report", epilog="Example: warpwright report 1a2b --html layernorm.html")(report.report)
app.command("export", epilog="Example: warpwright export relu.cu --task 19_ReLU.py --as kernelbench --out relu")(
    export.export
)
app.command("prove", epilog="Example: warpwright prove layernorm.cu --task layernorm")(prove.prove)
app.command("seal", epilog="Example: warpwright seal layernorm.cu --task layernorm --gpu h200")(seal.seal)
app.command("demo", epilog="Example: warpwright demo")(demo.demo)
app.command("doctor", epilog="Example: warpwright doctor --json")(doctor.doctor)
app.command("mcp", epilog="Example: warpwright mcp --archive runs.db")(mcp.mcp)
app.add_typer(tasks.app, name="tasks", epilog="Example: warpwright tasks list")
app.add_typer(bundle.app, name="bundle", epilog="Example: warpwright bundle make trip/ a.cu --task layernorm")
app.add_typer(runs.app, name="runs", epilog="Example: warpwright runs list")
app.add_typer(archive.app, name="archive", epilog="Example: warpwright archive export kernels.jsonl")
app.add_typer(
    verifiers.app, name="verifiers", epilog="Example: warpwright verifiers evaluate --labels kernels/labels.csv"
)


def main() -> None:
    code = warm.exit_code()
    if code is not None:
        sys.exit(code)
    run()


def run() -> None:
    """Runs the command in this process."""
    try:
        _run()
    except OSError as error:  # help and the version are printed before any command runs
        sys.exit(complain(error))


def _run() -> None:
    # A stable sort moves --debug to the front, where Typer expects global options.
    app(args=sorted(sys.argv[1:], key=lambda argument: argument != "--debug"), prog_name="warpwright")
