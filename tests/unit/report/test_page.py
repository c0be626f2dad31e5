"""Pages contain everything of interest, escape all text of candidates, and load nothing from the network."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Verdict
from warpwright.core.records.search import Action, Basis, Brief, Decision, Fate, Member, Operator, Run, Score, Snapshot
from warpwright.report.charts import bars, steps
from warpwright.report.funnel import best, funnel
from warpwright.report.page import Catch, Chapter, page
from warpwright.report.source import highlighted

RUN = Run(id="r1", task="paper/layernorm:forward", seed=1, started="now", warpwright="0")


def member(number: int, fate: Fate, value: float | None = None, basis: Basis = Basis.PREDICTED) -> Member:
    score = None if value is None else Score(candidate=f"c{number}", basis=basis, value=value, share_of_limit=0.5)
    return Member(
        brief=Brief(number=number, operator=Operator.COMPOSE),
        generation=0,
        fate=fate,
        candidate=f"c{number}",
        refuted_by="emulate" if fate is Fate.REFUTED else None,
        score=score,
    )


MEMBERS = (
    member(0, Fate.REFUTED),
    member(1, Fate.IMPROVED, -1.0),
    member(2, Fate.SLOWER, -2.0),
    member(3, Fate.IMPROVED, -0.5),
)
SNAPSHOT = Snapshot(
    run=RUN,
    members=MEMBERS,
    decisions=(Decision(number=0, generation=0, action=Action.STOP, reason="All <done>.", seed=1),),
)


class Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def outline(text: str) -> Outline:
    found = Outline()
    found.feed(text)
    return found


def test_the_funnel_counts_by_fate_and_rung() -> None:
    counted = funnel(SNAPSHOT)
    assert counted.proposed == 4
    assert counted.by_fate == {Fate.REFUTED: 1, Fate.SLOWER: 1, Fate.IMPROVED: 2}
    assert counted.refuted_by == {"emulate": 1}


def test_a_measured_score_always_precedes_a_predicted_one() -> None:
    measured = member(4, Fate.IMPROVED, -3.0, Basis.MEASURED)
    assert best(Snapshot(run=RUN, members=(*MEMBERS, measured))) == measured
    assert best(SNAPSHOT) == MEMBERS[3]
    assert best(Snapshot(run=RUN)) is None


def test_a_page_is_complete_and_loads_nothing() -> None:
    dossier = Dossier(
        candidate="c3",
        task=RUN.task,
        evidence=(
            Evidence(candidate="c3", rung="emulate", verdict=Verdict.HOLDS),
            Evidence(candidate="c3", rung="judge", verdict=Verdict.UNDECIDED, reason="no GPU here", skipped=True),
        ),
    )
    chapter = Chapter(
        snapshot=SNAPSHOT, source="int x;", dossier=dossier, times_us={"big": 20.0}, limits_us={"big": 10.0}
    )
    text = page("A title", [chapter])
    shown = " ".join(outline(text).text)
    for words in ("layernorm", "predicted", "50%", "no GPU here", "int x;", "All <done>.", "1 (1 by emulate)"):
        assert words in shown, words
    assert not re.search(r'src\s*=|href="(?!#)|url\(|@import|<script', text)


@given(st.text(max_size=200))
def test_all_text_of_a_source_is_escaped(source: str) -> None:
    wrong = Counterexample(kind="race", message=source or "x", line=1)
    evidence = Evidence(candidate="c", rung="emulate", verdict=Verdict.REFUTED, counterexample=wrong)
    dossier = Dossier(candidate="c", task="t", evidence=(evidence,))
    plain = outline(page("t", [], [Catch(title="t", source="x", dossier=dossier)]))
    tried = outline(page("t", [], [Catch(title="t", source=source, dossier=dossier)]))
    allowed = {"mark", "span"}
    assert [tag for tag in tried.tags if tag not in allowed] == [tag for tag in plain.tags if tag not in allowed]


@given(st.lists(st.tuples(st.text(max_size=10), st.floats(0, 1e9), st.text(max_size=10), st.just("plain"))))
def test_bars_fit_into_the_picture(rows: list[tuple[str, float, str, str]]) -> None:
    for width in re.findall(r'width="([\d.]+)"', bars(rows)):
        assert 0 < float(width) <= 640


def test_steps_go_up_and_stop_at_the_limit() -> None:
    drawn = steps([(0, 0.2), (3, 0.7)], last=8, ceiling=1.0)
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)"', drawn)]
    assert heights[1] < heights[0]
    assert "physical limit" in drawn
    assert steps([], last=0)


def test_a_page_begins_with_a_row_for_each_part_and_what_was_caught() -> None:
    refuted = Evidence(
        candidate="c0",
        rung="emulate",
        verdict=Verdict.REFUTED,
        counterexample=Counterexample(kind="race", message="a <race>", case="one", line=2),
    )
    held = Evidence(candidate="c3", rung="emulate", verdict=Verdict.HOLDS, facts={"cases": ["one", "two"], "runs": 7})
    catch = Catch(
        title="A planted race", source="// a\nint b;", dossier=Dossier(candidate="c0", task="t", evidence=(refuted,))
    )
    chapter = Chapter(
        snapshot=SNAPSHOT, source="#include <x>\nint a = 1;", gpu="a GPU",
        dossier=Dossier(candidate="c3", task="t", evidence=(held,)),
    )  # fmt: skip
    text = page("A page", [chapter], [catch])
    links = re.findall(r'href="#([^"]*)"', text)
    assert [text.count(f'id="{link}"') for link in links] == [1, 1]
    assert text.index('id="a-planted-race"') < text.index(f'id="{links[1]}"')
    assert "<mark>int b;</mark>" in text
    assert "2, 7 runs" in text
    assert "a GPU" in text


def test_highlighting_changes_no_letter_and_escapes_all() -> None:
    source = '/* a\n<b> */ #include <c>\nint d = 1; // "e" & f\nconst char* g = "<h>";\n'
    shown = "".join(outline(f"<pre>{highlighted(source)}</pre>").text)
    assert shown == source
    assert "comment" in highlighted(source)
