"""Mailboxes: letters that can be answered by hand, found again by content, shared by threads and processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from warpwright.core.errors import ModelFailed, UsageError
from warpwright.models.mailbox import Mailbox


def letters(folder):
    return sorted(path.name for path in folder.glob("*.prompt.md"))


def answer(folder, name, text, age_s=3600.0):
    path = folder / f"{name}.answer.md"
    path.write_text(text)
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age_s))


def test_a_letter_contains_everything_needed_to_answer_it(tmp_path, clock, ask):
    clock.on_sleep = lambda: answer(tmp_path, "0001-find-a-bug", "the answer")
    request = ask("Where is\nthe bug?", purpose="Find a bug!", effort="high", schema={"type": "object"})
    reply = Mailbox(tmp_path, clock=clock).complete(request)
    assert (reply.text, reply.cost_usd, reply.usage) == ("the answer", None, {})
    letter = (tmp_path / "0001-find-a-bug.prompt.md").read_text()
    assert letter.endswith("\n---\n\nWhere is\nthe bug?\n")
    for word in ("0001-find-a-bug.answer.md", "high", '{"type": "object"}', "Find a bug!"):
        assert word in letter


def test_an_answer_is_read_when_it_has_stopped_growing(tmp_path, clock, ask):
    states = iter(["", "a", "a longer", "a longer answer", None, None])

    def write():
        state = next(states)
        if state is not None:
            answer(tmp_path, "0001-translate", state, age_s=-1000.0)

    clock.on_sleep = write
    assert Mailbox(tmp_path, clock=clock).complete(ask()).text == "a longer answer"
    assert len(clock.slept) == 5


def test_an_existing_answer_is_used_at_once(tmp_path, clock, ask):
    clock.on_sleep = lambda: answer(tmp_path, "0001-translate", "kept")
    Mailbox(tmp_path, clock=clock).complete(ask())
    slept = len(clock.slept)
    assert Mailbox(tmp_path, clock=clock).complete(ask()).text == "kept"
    assert (len(clock.slept), letters(tmp_path)) == (slept, ["0001-translate.prompt.md"])


def test_an_unanswered_letter_is_reused(tmp_path, clock, ask):
    with pytest.raises(ModelFailed) as late:
        Mailbox(tmp_path, clock=clock, deadline_s=10.0).complete(ask())
    assert (late.value.kind, late.value.retryable) == ("timeout", True)
    answer(tmp_path, "0001-translate", "late, but there")
    assert Mailbox(tmp_path, clock=clock).complete(ask()).text == "late, but there"
    assert letters(tmp_path) == ["0001-translate.prompt.md"]


def test_other_questions_get_other_letters(tmp_path, clock, ask):
    answer(tmp_path, "0007-old", "somebody's")
    (tmp_path / "0007-old.prompt.md").write_text("not ours")
    (tmp_path / "notes.txt").write_text("not a letter")
    for request in (ask("one"), ask("two"), ask("two", effort="low"), ask("two", temperature=0.5)):
        with pytest.raises(ModelFailed):
            Mailbox(tmp_path, clock=clock, deadline_s=0.0).complete(request)
    assert letters(tmp_path) == ["0007-old.prompt.md", *(f"{n:04d}-translate.prompt.md" for n in (8, 9, 10, 11))]


@pytest.mark.parametrize(("content", "said"), [(b" \n", "blank"), (b"\xff\xfe", "UTF-8")])
def test_an_invalid_answer_is_malformed(tmp_path, clock, ask, content, said):
    (tmp_path / "0001-translate.answer.md").write_bytes(content)
    with pytest.raises(ModelFailed, match=said) as failed:
        Mailbox(tmp_path, clock=clock).complete(ask())
    assert failed.value.kind == "malformed"


def test_threads_share_a_mailbox(tmp_path, ask):
    stop = threading.Event()

    def postman():
        while not stop.wait(0.01):
            for letter in tmp_path.glob("*.prompt.md"):
                draft = letter.with_suffix(".draft")
                draft.write_text(letter.read_text().rsplit("---\n\n", 1)[1].strip() + " answered")
                draft.rename(letter.with_name(letter.name.replace(".prompt.", ".answer.")))

    box = Mailbox(tmp_path, poll_s=0.02)
    threading.Thread(target=postman).start()
    try:
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(box.complete, [ask(f"question {n % 5}") for n in range(20)]))
    finally:
        stop.set()
    assert [reply.text for reply in replies] == [f"question {n % 5} answered" for n in range(20)]
    assert len(letters(tmp_path)) == 5


POST = """
import sys
from pathlib import Path
from warpwright.core.errors import ModelFailed
from warpwright.core.protocols import Request
from warpwright.models.mailbox import Mailbox
for n in range(10):
    try:
        Mailbox(Path(sys.argv[1]), deadline_s=0.0).complete(Request(prompt=f"{sys.argv[2]} {n}", purpose="p"))
    except ModelFailed:
        pass
"""


def test_processes_share_a_mailbox(tmp_path):
    command = [sys.executable, "-c", POST, str(tmp_path)]
    for process in [subprocess.Popen([*command, name]) for name in ("one", "two")]:
        assert process.wait(120) == 0
    assert letters(tmp_path) == [f"{n:04d}-p.prompt.md" for n in range(1, 21)]
    asked = {(tmp_path / name).read_text().rsplit("\n\n", 1)[1].strip() for name in letters(tmp_path)}
    assert asked == {f"{name} {n}" for name in ("one", "two") for n in range(10)}


def test_a_file_is_no_mailbox(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="mailbox"):
        Mailbox(tmp_path / "file")
