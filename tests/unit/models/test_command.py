"""Programs as models: the prompt goes in, the answer comes out, and no process of the program survives."""

from __future__ import annotations

import os
import shlex
import sys
import time

import pytest

from warpwright.core.errors import ModelFailed, UsageError
from warpwright.models.command import Command

PYTHON = shlex.quote(sys.executable)


def program(code, folder, **more):
    return Command(f"{PYTHON} -c {shlex.quote(code)}", folder=folder, **more)


def failure(model, request):
    with pytest.raises(ModelFailed) as failed:
        model.complete(request)
    assert "\n" not in str(failed.value)
    return failed.value


def test_the_prompt_goes_in_and_the_answer_comes_out(tmp_path, ask):
    model = program("import sys; print(sys.stdin.read().upper(), end='')", tmp_path)
    reply = model.complete(ask("schöne grüße\n" * 1000))
    assert reply.text == "SCHÖNE GRÜSSE\n" * 1000
    assert (reply.cost_usd, reply.usage, reply.parsed) == (None, {}, None)
    assert reply.seconds > 0
    assert model.ceiling(ask()) is None


def test_a_program_runs_in_its_own_empty_folder(tmp_path, ask):
    model = program("import os; open('left', 'w').close(); print(os.getcwd(), os.listdir())", tmp_path)
    first, second = model.complete(ask()).text, model.complete(ask()).text
    assert first != second
    assert first.endswith("['left']\n")
    assert not os.path.exists(first.split()[0])


def test_the_environment_and_settings_of_the_request_are_passed_on(tmp_path, ask, monkeypatch):
    monkeypatch.setenv("AGENT_KEY", "k")
    code = "import os; print([os.environ.get(n) for n in ('AGENT_KEY', 'WARPWRIGHT_PURPOSE', 'WARPWRIGHT_EFFORT')])"
    assert program(code, tmp_path).complete(ask(effort="high")).text == "['k', 'translate', 'high']\n"


def test_relative_files_start_in_the_users_folder(tmp_path, ask):
    (tmp_path / "agent.py").write_text("print('from the file')")
    assert Command(f"{PYTHON} agent.py", folder=tmp_path).complete(ask()).text == "from the file\n"
    script = tmp_path / "agent.sh"
    script.write_text("#!/bin/sh\necho from the script\n")
    script.chmod(0o755)
    assert Command("./agent.sh", folder=tmp_path).complete(ask()).text == "from the script\n"


def test_no_shell_reads_the_command(tmp_path, ask):
    assert Command("echo $HOME;ls | wc", folder=tmp_path).complete(ask()).text == "$HOME;ls | wc\n"


def test_a_failure_status_is_reported_with_the_last_line_of_errors(tmp_path, ask):
    code = "import sys; print('half an answer'); sys.exit('first\\nno credit left')"
    failed = failure(program(code, tmp_path), ask())
    assert failed.kind == "server"
    assert "status 1: no credit left" in str(failed)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("pass", "printed nothing"),
        ("print('  ')", "printed nothing"),
        ("import os; os.write(1, b'\\xff\\xfe')", "not UTF-8"),
        ("import os; os.truncate(1, 17 << 20)", "more than 16 MiB"),
    ],
)
def test_an_invalid_answer_is_malformed(tmp_path, ask, code, said):
    failed = failure(program(code, tmp_path), ask())
    assert failed.kind == "malformed"
    assert said in str(failed)


def gone(pid):
    """Waits for a killed grandchild, which its new parent may reap a moment later."""
    for _ in range(200):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


def leaves_a_child(folder, then, **more):
    """A shell, because it starts faster than any deadline used here."""
    script = f"sleep 600 & echo $! > {shlex.quote(str(folder / 'pid'))}; echo answer; {then}"
    return Command(f"sh -c {shlex.quote(script)}", folder=folder, **more)


def test_at_the_deadline_the_whole_group_is_killed(tmp_path, ask):
    failed = failure(leaves_a_child(tmp_path, "wait", deadline_s=2.0), ask())
    assert (failed.kind, failed.retryable) == ("timeout", True)
    assert "'sh' gave no answer within 2 s" in str(failed)
    assert gone(int((tmp_path / "pid").read_text()))


def test_no_child_of_a_program_outlives_its_call(tmp_path, ask):
    assert leaves_a_child(tmp_path, "exit 0", deadline_s=60.0).complete(ask()).text == "answer\n"
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_program_that_was_removed_cannot_be_started(tmp_path, ask):
    script = tmp_path / "agent"
    script.write_text("#!/bin/sh\necho hello\n")
    script.chmod(0o755)
    model = Command("./agent", folder=tmp_path)
    script.unlink()
    assert failure(model, ask()).kind == "unreachable"


@pytest.mark.parametrize(
    ("command", "said"), [("'", "cannot be read"), ("no-such-program-here", "not there"), ("''", "not there")]
)
def test_a_command_that_cannot_be_run_is_refused_at_once(tmp_path, command, said):
    with pytest.raises(UsageError, match=said):
        Command(command, folder=tmp_path)
