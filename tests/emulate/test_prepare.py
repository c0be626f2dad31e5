"""A candidate with a `prepare` of its own: it runs first, `forward` gets what it made, both are held to the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.emulate.emulating import emulate
from warpwright.seal.cache import Store

pytestmark = pytest.mark.timeout(600)

Find = Callable[[str], Any]
NAME = "matmul_small_prepared"
WRONG = {
    "prepare is wrong": ("turned[i % K * N + i / K] = weight[i]", "turned[i] = weight[i]", "error"),
    "prepare leaves some out": ("if (i < static_cast<int64_t>(N) * K)", "if (i + 1 < int64_t(N) * K)", "unwritten"),
    "prepare runs over": ("if (i < static_cast<int64_t>(N) * K)", "if (i <= int64_t(N) * K)", "out-of-bounds"),
    "forward changes what is kept": (
        "  float sum = 0.0f;",
        "  float sum = 0.0f; if (n == 0) const_cast<scalar_t*>(turned)[0] = scalar_t(0.0f);",
        "mutation",
    ),
}


def test_what_was_prepared_reaches_forward(specimen: Find, store: Store) -> None:
    one = specimen(NAME)
    found = emulate(one.task, one.candidate, one.cases[:3], store)
    assert found.verdict is Verdict.HOLDS, (found.reason, found.counterexample)


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_on_either_side_is_found(case: str, specimen: Find, store: Store) -> None:
    one = specimen(NAME)
    text, instead, kind = WRONG[case]
    assert text in one.source
    wrong = Candidate(source=one.source.replace(text, instead))
    found = emulate(one.task, wrong, one.cases[1:3], store)
    assert found.verdict is Verdict.REFUTED, found.reason
    assert found.counterexample is not None
    assert kind in {found.counterexample.kind, *(finding.kind for finding in found.findings)}, found.counterexample
