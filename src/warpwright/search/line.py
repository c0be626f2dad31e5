"""The straight line from a PyTorch function to a verified, measured kernel. Read this first.

brief      what is wanted of one candidate           evolve, or tuning.py, decides
candidate  a kernel's source                         propose, compose
dossier    evidence: source, seal, emulate, opinion  verify; it ends with the first rung that refutes
outcome    checked and timed on a GPU, or predicted  dispatch, judge
record     everything above, in the archive          archive, folded into a snapshot by evolve
"""

from __future__ import annotations

from warpwright.core.records.search import Action, Snapshot
from warpwright.search.run import SearchRun


def straight_line(run: SearchRun) -> Snapshot:
    """Searches until the policy stops. Each step does only the work that the records of the run still lack."""
    with run.session():
        while True:
            run.propose()  # briefs -> candidates
            run.verify()  # candidates -> dossiers
            run.evaluate()  # sealed candidates -> times, measured or predicted
            run.reflect()  # results -> a lesson for later prompts
            if run.decide() is Action.STOP:  # snapshot -> the next briefs, evaluations or lesson
                return run.snapshot()
