"""The columns of the dataset and their types, one row per proposal; docs/archive.md explains each.

A type is str, int, float or bool; [type] is a list; {name: type} is a group of named values; dict holds counts by name.
"""

from __future__ import annotations

from typing import Any

COLUMNS: dict[str, Any] = {
    # The run and the request.
    "run": str,
    "task": str,
    "started": str,
    "warpwright": str,
    "brief": int,
    "decision": int,
    "generation": int,
    "operator": str,
    "island": int,
    "parents": [str],
    "context": [str],
    "near_miss": str,
    "hint": str,
    "lesson": str,
    "genome": str,
    # The model, its answer and the cost.
    "model": str,
    "effort": str,
    "temperature": float,
    "prompt": str,
    "reply": str,
    "calls": int,
    "tokens": dict,
    "cost_usd": float,
    # The candidate.
    "candidate": str,
    "source": str,
    "language": str,
    "flags": {"gpu": str, "fast_math": bool, "extra": [str]},
    "fingerprint": str,
    "traits": [int],
    "duplicate_of": str,
    "problem": str,
    "faulted": bool,
    # Verdict, times and score.
    "verdict": str,
    "refuted_by": str,
    "counterexample": {"kind": str, "message": str, "case": str, "line": int, "facts": str},
    "rungs": [{"rung": str, "verdict": str, "reason": str, "skipped": bool, "seconds": float}],
    "faults": [{"where": str, "message": str}],
    "times": [
        {
            "case": str,
            "cache": str,
            "subject": str,
            "median_us": float,
            "samples": int,
            "invalid": str,
            "gpu": str,
            "job": str,
        }
    ],
    "predictions": [{"case": str, "gpu": str, "time_us": float, "limited_by": str}],
    "score": float,
    "basis": str,
    "score_by_case": [{"case": str, "score": float}],
    "share_of_limit": float,
    "profile": str,
}
