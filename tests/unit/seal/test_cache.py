"""The store: complete entries or none, whoever dies or races, and never above its limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warpwright.seal.cache import Store, default_root

KEY, OTHER = "ab" * 10, "cd" * 10


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(root=tmp_path / "store", limit_bytes=1000)


def fill(size: int) -> object:
    return lambda folder: (folder / "data").write_bytes(bytes(size))


def test_an_entry_is_made_once(store: Store) -> None:
    assert store.find(KEY) is None
    place = store.make(KEY, fill(3))  # type: ignore[arg-type]
    assert (place / "data").stat().st_size == 3
    assert store.make(KEY, lambda folder: pytest.fail("made twice")) == place == store.find(KEY)


def test_what_is_dear_is_made_by_one_while_others_wait(store: Store) -> None:
    made = []

    def once(folder: Path) -> None:
        made.append(folder)
        (folder / "data").touch()

    with ThreadPoolExecutor(8) as pool:
        places = set(pool.map(lambda _: store.make_once(KEY, once), range(8)))
    assert (len(made), places) == (1, {store.find(KEY)})


def test_a_failed_filling_leaves_nothing(store: Store) -> None:
    def fails(folder: Path) -> None:
        (folder / "half").touch()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.make(KEY, fails)
    assert store.find(KEY) is None
    assert not list((store.root / "staging").iterdir())


def test_many_may_make_the_same_entry(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        places = set(pool.map(lambda _: store.make(KEY, fill(10)), range(32)))  # type: ignore[arg-type]
    assert places == {store.find(KEY)}


def test_the_least_recently_used_goes_first(store: Store) -> None:
    for age, key in enumerate((KEY, OTHER)):
        os.utime(store.make(key, fill(600)), (age, age))  # type: ignore[arg-type]
    store.evict()
    assert store.find(KEY) is None
    assert store.find(OTHER) is not None


def test_the_newest_stays_even_if_it_is_too_large(store: Store) -> None:
    store.make(KEY, fill(5000))  # type: ignore[arg-type]
    store.evict()
    assert store.find(KEY) is not None


def test_what_a_dead_process_left_is_swept_and_a_live_one_keeps_its_own(store: Store) -> None:
    with store.staging() as mine:
        dead = store.root / "staging" / "dead"
        dead.mkdir()
        os.utime(dead, (0, 0))
        store.evict()
        assert mine.exists()
        assert not dead.exists()


def test_a_killed_process_leaves_no_entry(store: Store) -> None:
    code = (
        "import os, sys, time; from pathlib import Path; from warpwright.seal.cache import Store\n"
        "def fill(folder):\n"
        "    (folder / 'half').write_bytes(b'x'); print('filling', flush=True); time.sleep(60)\n"
        "Store(root=Path(sys.argv[1])).make(sys.argv[2], fill)"
    )
    with subprocess.Popen([sys.executable, "-c", code, store.root, KEY], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"filling\n"
        process.send_signal(signal.SIGKILL)
    assert store.find(KEY) is None


def test_the_place_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("WARPWRIGHT_CACHE", raising=False)
    assert default_root() == tmp_path / "warpwright"
    monkeypatch.setenv("WARPWRIGHT_CACHE", str(tmp_path / "mine"))
    assert default_root() == tmp_path / "mine"
