"""`warpwright doctor`: the tools of this machine, and how to get missing ones."""

from __future__ import annotations

import typer

from warpwright.cli.output import Json, emit
from warpwright.core.errors import Exit


def doctor(as_json: Json = False) -> None:
    """Show what this machine has, what is missing, and how to get it."""
    from warpwright.app.doctor import complete, examine

    findings = examine()
    healthy = complete(findings)
    if as_json:
        emit("doctor/1", complete=healthy, findings=findings)
    else:
        from warpwright.cli.screen import bad, faint, good, plain, screen, show_table

        rows = [
            (
                plain(item.name),
                good(item.found) if item.found else (bad if item.required else faint)("missing"),
                plain(item.needed_for),
                "" if item.found else plain(item.remedy),
            )
            for item in findings
        ]
        show_table(("", "found", "needed for", "how to get it"), rows)
        verdict = good("Everything required is here.") if healthy else bad("Something required is missing.")
        screen().print(verdict)
    raise typer.Exit(Exit.HOLDS if healthy else Exit.UNDECIDED)
