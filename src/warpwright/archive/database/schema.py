"""The tables. Bodies are exact canonical JSON; the other columns are derived from them, for SQL queries."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = "0001"
"""The version of the newest file in migrations/."""
VERSION_TABLE = "archive_version"

METADATA = MetaData()

RUNS = Table(
    "runs",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("task", Text, nullable=False),
    Column("started", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("at", Text, nullable=False),
    Index("runs_by_task", "task"),
)

CANDIDATES = Table(
    "candidates",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("gpu", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("at", Text, nullable=False),
)

# The request for each proposal, derived from decisions.
BRIEFS = Table(
    "briefs",
    METADATA,
    Column("run", Text, ForeignKey("runs.id"), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("decision", BigInteger, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("operator", Text, nullable=False),
    Column("model", Text),
    Column("effort", Text),
    Column("temperature", Double),
    Column("island", BigInteger, nullable=False),
    Column("hint", Text),
    PrimaryKeyConstraint("run", "number"),
    Index("briefs_by_operator", "operator"),
)

RECORDS = Table(
    "records",
    METADATA,
    Column("run", Text, ForeignKey("runs.id"), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text),
    Column("candidate", Text, ForeignKey("candidates.id")),
    Column("brief", BigInteger),
    Column("verdict", Text),
    Column("rung", Text),
    Column("basis", Text),
    Column("score", Double),
    Column("gpu", Text),
    Column("model", Text),
    Column("cost_usd", Double),
    Column("words", Text),
    Column("body", Text, nullable=False),
    Column("at", Text, nullable=False),
    PrimaryKeyConstraint("run", "number"),
    UniqueConstraint("run", "kind", "key", name="records_once"),
    Index("records_by_candidate", "candidate", "kind"),
    Index("records_by_verdict", "kind", "verdict", "rung"),
    Index("records_by_score", "kind", "basis", "score"),
    Index("records_by_model", "kind", "model"),
)
