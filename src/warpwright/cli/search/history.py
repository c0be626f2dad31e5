"""Prints a run's history: decisions with their reasons, and proposals with their fates."""

from __future__ import annotations

from warpwright.cli.screen import faint, good, plain, screen, show_table
from warpwright.core.records.search import Fate, Member, Snapshot
from warpwright.report.funnel import best
from warpwright.report.scores import spent_words, standing_words


def show(snapshot: Snapshot) -> None:
    run = snapshot.run
    screen().print(f"Run {plain(run.id)} for {plain(run.task)}, started {plain(run.started)}")
    for decision in snapshot.decisions:
        screen().print(faint(f"{decision.number:4d}  {decision.action}: {decision.reason}"), soft_wrap=True)
    show_table(("proposal", "by", "from", "fate", ""), [_row(member) for member in snapshot.members])
    winner = best(snapshot)
    if winner:
        screen().print(good(f"Best: proposal {winner.brief.number}, {plain(standing_words(winner))}"), soft_wrap=True)
    screen().print(f"Spent: {spent_words(snapshot.spent)}.")


def _row(member: Member) -> list[str]:
    brief = member.brief
    author = brief.arm.model if brief.arm else ""
    parents = ", ".join(parent[:8] for parent in brief.parents)
    fate = good(member.fate) if member.fate is Fate.IMPROVED else plain(member.fate)
    return [
        f"{brief.number}",
        plain(f"{brief.operator} {author}".strip()),
        plain(parents),
        fate,
        plain(_remark(member)),
    ]


def _remark(member: Member) -> str:
    if member.score:
        return standing_words(member)
    return f"{member.refuted_by}: {member.issue}" if member.issue else ""
