"""The first version: runs, candidates, briefs and records."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _runs()
    _candidates()
    _briefs()
    _records()


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("started", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_index("runs_by_task", "runs", ["task"])


def _candidates() -> None:
    op.create_table(
        "candidates",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("gpu", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )


def _briefs() -> None:
    op.create_table(
        "briefs",
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("decision", sa.BigInteger, nullable=False),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("operator", sa.Text, nullable=False),
        sa.Column("model", sa.Text),
        sa.Column("effort", sa.Text),
        sa.Column("temperature", sa.Double),
        sa.Column("island", sa.BigInteger, nullable=False),
        sa.Column("hint", sa.Text),
        sa.PrimaryKeyConstraint("run", "number"),
    )
    op.create_index("briefs_by_operator", "briefs", ["operator"])


def _records() -> None:
    op.create_table(
        "records",
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("key", sa.Text),
        sa.Column("candidate", sa.Text, sa.ForeignKey("candidates.id")),
        sa.Column("brief", sa.BigInteger),
        sa.Column("verdict", sa.Text),
        sa.Column("rung", sa.Text),
        sa.Column("basis", sa.Text),
        sa.Column("score", sa.Double),
        sa.Column("gpu", sa.Text),
        sa.Column("model", sa.Text),
        sa.Column("cost_usd", sa.Double),
        sa.Column("words", sa.Text),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run", "number"),
        sa.UniqueConstraint("run", "kind", "key", name="records_once"),
    )
    op.create_index("records_by_candidate", "records", ["candidate", "kind"])
    op.create_index("records_by_verdict", "records", ["kind", "verdict", "rung"])
    op.create_index("records_by_score", "records", ["kind", "basis", "score"])
    op.create_index("records_by_model", "records", ["kind", "model"])
