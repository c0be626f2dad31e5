"""The location of archives, their creation and migration, and files that are refused."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, create_engine, text

from warpwright.archive.database import migrate
from warpwright.archive.database.address import address, shown
from warpwright.archive.database.engine import engine_for
from warpwright.archive.database.schema import METADATA, VERSION, VERSION_TABLE
from warpwright.archive.opening import open_archive
from warpwright.core.errors import UsageError
from warpwright.core.records.search import Lesson, Run

FIRST = Path(__file__).with_name("archive_v1.sql")


def execute(place: str, statement: str) -> None:
    engine = engine_for(address(place))
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def test_the_default_archive_is_in_the_users_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WARPWRIGHT_ARCHIVE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert address(None) == tmp_path / "warpwright" / "archive.db"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert address(None) == tmp_path / ".local" / "share" / "warpwright" / "archive.db"


def test_the_environment_names_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPWRIGHT_ARCHIVE", f"sqlite:///{tmp_path}/deep/er/a.db")
    with open_archive() as archive:
        assert archive.runs() == ()
    assert (tmp_path / "deep" / "er" / "a.db").exists()


def test_a_path_and_its_url_give_the_same_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.db").symlink_to("a.db")
    forms = ["a.db", "sqlite:///a.db", f"sqlite:///{tmp_path}/a.db", tmp_path / "a.db", "link.db"]
    assert {address(form) for form in forms} == {tmp_path / "a.db"}


def test_a_password_is_never_shown() -> None:
    place = address("postgres://me:secret@db.example/kernels")
    assert isinstance(place, URL)
    assert shown(place) == "postgresql+psycopg://me:***@db.example/kernels"


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("sqlite://", "in memory would be lost"),
        ("sqlite:///:memory:", "in memory would be lost"),
        ("sqlite:///a.db?mode=ro", "sqlite:///PATH and nothing else"),
        ("sqlite://a.db", "sqlite:///PATH and nothing else"),
        ("mysql://u:secret@h/d", "no archive can be kept in mysql"),
        ("postgresql+asyncpg://h/d", "no archive can be kept in postgresql"),
        ("postgresql://h:port/secret", "cannot be read; it is a path, sqlite:///PATH or postgresql://"),
        ("://", "cannot be read"),
        ("a\0b", "is no path for an archive"),
        (".", "is a folder; name a file in it"),
    ],
)
def test_an_address_that_cannot_be_used_is_explained(where: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        address(where)
    assert "secret" not in str(caught.value)


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"pip install 'warpwright\[postgres\]'"):
        open_archive("postgresql://localhost/kernels")


def test_an_unreachable_server_is_named(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with pytest.raises(UsageError, match=r"archive postgresql.*/kernels.* cannot be reached: "):
        open_archive(f"postgresql://nobody@/kernels?host={tmp_path}")


def test_a_server_that_refuses_is_quoted(server: Any) -> None:
    place = server.room()
    with pytest.raises(UsageError, match='database "nowhere" does not exist'):
        open_archive(place.replace("/postgres?", "/nowhere?"))
    with pytest.raises(UsageError, match="may only be read"):
        open_archive(f"{place}%20-cdefault_transaction_read_only%3Don")


def test_synchronous_commit_is_enabled_on_a_server_that_disables_it(server: Any) -> None:
    engine = engine_for(address(f"{server.room()}%20-csynchronous_commit%3Doff"))
    with engine.connect() as connection:
        assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"
    engine.dispose()


def test_commits_to_a_file_are_synced(tmp_path: Path) -> None:
    with open_archive(tmp_path / "a.db"):
        pass
    engine = engine_for(tmp_path / "a.db")
    with engine.connect() as connection:
        found = [connection.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "synchronous")]
        assert [*found, connection.execute(text("PRAGMA foreign_keys")).scalar()] == ["wal", 2, 1]
    engine.dispose()


def test_the_migrations_create_the_tables_of_the_schema(place: str) -> None:
    with open_archive(place):
        pass
    engine = engine_for(address(place))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_revision() == VERSION
    engine.dispose()


def test_the_newest_migration_is_the_version_of_the_schema() -> None:
    config = Config()
    config.set_main_option("script_location", "warpwright.archive.database:migrations")
    assert ScriptDirectory.from_config(config).get_heads() == [VERSION]


def test_an_archive_of_the_first_version_is_read(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "old.db")
    connection.executescript(FIRST.read_text(encoding="utf-8"))
    connection.close()
    with open_archive(tmp_path / "old.db") as archive:
        assert archive.run("first").task == "paper/layernorm:forward"
        assert [type(record).__name__ for record in archive.log("first")] == [
            *("Decision", "Call", "Proposal", "Dossier", "Judged", "Prediction", "Score", "Lesson", "Session")
        ]
        assert archive.append("first", Lesson(decision=2, text="still open"))
        assert len(archive.search("layernorm", 9)) == 3


def test_an_archive_of_a_newer_version_is_refused(place: str) -> None:
    with open_archive(place):
        pass
    execute(place, f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    with pytest.raises(UsageError, match=r"written by a newer Warpwright \(version 9999\); update"):
        open_archive(place)


def test_a_failed_migration_changes_nothing(
    place: str, monkeypatch: pytest.MonkeyPatch, new_run: Callable[..., Run]
) -> None:
    def upgrade_and_die(*arguments: Any) -> None:
        whole(*arguments)
        raise KeyboardInterrupt

    whole = migrate._upgrade
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "_upgrade", upgrade_and_die)
        with pytest.raises(KeyboardInterrupt):
            open_archive(place)
    with open_archive(place) as archive:
        archive.begin(new_run("r1"))
        assert archive.runs() == (new_run("r1"),)


def test_a_foreign_database_is_not_changed(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/other.db")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE bookmarks (url TEXT)"))
    engine.dispose()
    with pytest.raises(UsageError, match=r"a database with other tables \(bookmarks\)"):
        open_archive(tmp_path / "other.db")


def test_a_foreign_table_of_the_same_name_on_a_server_is_not_changed(server: Any) -> None:
    place = server.room()
    execute(place, "CREATE TABLE runs (distance INTEGER)")
    with pytest.raises(UsageError, match=r"other tables \(runs\)"):
        open_archive(place)


def test_other_tables_on_a_server_are_allowed(server: Any) -> None:
    place = server.room()
    execute(place, "CREATE TABLE bookmarks (url TEXT)")
    with open_archive(place) as archive:
        assert archive.runs() == ()


@pytest.mark.parametrize("contents", [b"x", b"SQLite", b"a text of more than a hundred bytes" * 10])
def test_a_file_of_another_kind_is_not_changed(tmp_path: Path, contents: bytes) -> None:
    place = tmp_path / "letter.txt"
    place.write_bytes(contents)
    with pytest.raises(UsageError, match="of another kind, not an archive"):
        open_archive(place)
    assert place.read_bytes() == contents


def test_an_empty_file_becomes_an_archive(tmp_path: Path) -> None:
    (tmp_path / "a.db").touch()
    with open_archive(tmp_path / "a.db") as archive:
        assert archive.runs() == ()


def test_a_missing_archive_named_to_be_read_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no archive .*typo\.db"):
        open_archive(tmp_path / "deep" / "typo.db", to_read=True)
    assert list(tmp_path.iterdir()) == []
