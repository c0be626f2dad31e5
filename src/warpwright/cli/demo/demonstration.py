"""The demo, step by step: two planted kernels that must be caught, and searches that must find a kernel."""

from __future__ import annotations

from pathlib import Path

from warpwright.app.given import headers_first
from warpwright.app.progress import Reporter, Update
from warpwright.app.searches.chapters import chapter
from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.cli.output import emit
from warpwright.cli.screen import bad, bar_of, faint, good, plain, screen, show_table, waiting
from warpwright.cli.search.live import watching
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.errors import Exit
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.evidence import Verdict
from warpwright.core.records.search import Snapshot
from warpwright.evolve.policy import Policy
from warpwright.report.funnel import best, funnel
from warpwright.report.page import Catch, Chapter, page
from warpwright.report.scores import in_words
from warpwright.report.verdicts import details, sentence
from warpwright.search.line import straight_line
from warpwright.search.settings import Settings
from warpwright.search.wiring import begin, search_run
from warpwright.tasks import load
from warpwright.verify.ladder import climb

SEARCHES = ("llama_rmsnorm:forward", "mnist_cross_entropy:forward", "mnist_cross_entropy:backward", "swiglu:forward")
"""A normalisation, a cross-entropy with its backward pass, the fused middle of an MLP."""
PLANTED = (
    ("cheat", "A cheat that loose tests let through"),
    ("race", "A race that a GPU usually wins"),
)
_PLANTED_TASK = "llama_rmsnorm:forward"
_SEED = 2026
POLICY = Policy(generations=1, proposals=2, evaluate=2)


def demonstrate(folder: Path, gpu: str, as_json: bool) -> Exit:
    """Returns 0 if both planted kernels were caught and every search found a correct kernel."""
    catches = [_catch(name, title, gpu, as_json) for name, title in PLANTED]
    with open_archive(folder / "archive.db") as archive:
        chapters = [_search(archive, name, folder, gpu, as_json) for name in SEARCHES]
    report = folder / "report.html"
    report.write_text(page("Warpwright: a demonstration", chapters, catches), encoding="utf-8")
    caught = all(catch.dossier.verdict is Verdict.REFUTED for catch in catches)
    found = all(best(item.snapshot) is not None for item in chapters)
    if as_json:
        emit("demo/1", caught=caught, found=found, report=str(report), best=[best(item.snapshot) for item in chapters])
    else:
        _show(chapters, folder, report)
    return Exit.HOLDS if caught and found else Exit.OUR_FAULT


def _catch(name: str, title: str, gpu: str, as_json: bool) -> Catch:
    """Restricts the task to one dtype, which is enough to catch the planted kernel."""
    source = (Path(__file__).parent / "planted" / f"{name}.cu").read_text(encoding="utf-8")
    (task,) = load(_PLANTED_TASK)
    cases = tuple(case for case in task.cases if case.dtype == "fp32")
    candidate = Candidate(source=source, flags=Flags(gpu=gpu_named(gpu).name))
    with waiting(headers_first(f"checking a planted {name}"), silent=as_json):
        dossier = climb(task, candidate, cases).dossier
    if not as_json:
        mark = good("caught") if dossier.verdict is Verdict.REFUTED else bad("missed")
        screen().print(f"{plain(title)}: {mark}", f"  {plain(sentence(dossier))}", sep="\n", soft_wrap=True)
        for text in details(dossier, source)[:2]:
            screen().print(faint(f"  {text}"), soft_wrap=True)
    return Catch(title=title, source=source, dossier=dossier)


def _search(archive: Archive, name: str, folder: Path, gpu: str, as_json: bool) -> Chapter:
    settings = Settings(
        task=name,
        flags=Flags(gpu=gpu_named(gpu).name),
        policy=POLICY,
        output=str(folder / f"{name.replace(':', '-')}.cu"),
    )
    run = begin(archive, settings, _SEED)
    with watching(settings, silent=as_json) as told:
        told(Update(label=f"searching for a kernel for {name}"))
        session = search_run(archive, run, Reporter(told))
        snapshot = straight_line(session)
    return chapter(archive, session.task, snapshot, gpu)


def _show(chapters: list[Chapter], folder: Path, report: Path) -> None:
    rows = [_row(item.snapshot) for item in chapters]
    show_table(("task", "proposals", "refuted", "best", ""), rows, title="What the searches found")
    screen().print(f"Kernels are in {plain(folder)}, the report with all the evidence in {plain(report)}")


def _row(snapshot: Snapshot) -> list[str]:
    counted, winner = funnel(snapshot), best(snapshot)
    refuted = str(sum(counted.refuted_by.values()))
    if winner is None or winner.score is None:
        return [plain(snapshot.run.task), str(counted.proposed), refuted, bad("nothing right"), ""]
    share = winner.score.share_of_limit
    drawn = "" if share is None else bar_of(share)
    return [plain(snapshot.run.task), str(counted.proposed), refuted, plain(in_words(winner.score)), drawn]
