"""The first schema, and the second lock on reservations."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.String(length=40), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("what", sa.String(length=200), nullable=False),
        sa.Column("detail", sa.String(length=1000), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_at"), "audit", ["at"], unique=False)
    op.create_table(
        "codes",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("used", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_codes")),
    )
    op.create_table(
        "counters",
        sa.Column("name", sa.String(length=16), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )
    op.create_table(
        "facts",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_facts")),
    )
    op.create_table(
        "people",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("disabled", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_people")),
    )
    op.create_table(
        "experiments",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("owner", sa.String(length=40), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float(), nullable=True),
        sa.Column("materialised", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["people.name"], name=op.f("fk_experiments_owner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiments")),
    )
    op.create_index("ix_experiments_going", "experiments", ["ended", "materialised"], unique=False)
    op.create_index(op.f("ix_experiments_owner"), "experiments", ["owner"], unique=False)
    op.create_table(
        "inputs",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("owner", sa.String(length=40), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["people.name"], name=op.f("fk_inputs_owner")),
        sa.PrimaryKeyConstraint("sha256", "owner", name=op.f("pk_inputs")),
    )
    op.create_table(
        "nodes",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("owner", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=44), nullable=False),
        sa.Column("address", sa.String(length=45), nullable=True),
        sa.Column("joined", sa.Float(), nullable=False),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("seen", sa.Float(), nullable=True),
        sa.Column("heartbeat", sa.Text(), nullable=True),
        sa.Column("newest_order", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["people.name"], name=op.f("fk_nodes_owner")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_nodes")),
        sa.UniqueConstraint("key", name=op.f("uq_nodes_key")),
    )
    op.create_index(op.f("ix_nodes_owner"), "nodes", ["owner"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=100), nullable=False),
        sa.Column("scopes", sa.String(length=200), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["person"], ["people.name"], name=op.f("fk_tokens_person")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_tokens_hash")),
    )
    op.create_index(op.f("ix_tokens_person"), "tokens", ["person"], unique=False)
    op.create_table(
        "events",
        sa.Column("node", sa.String(length=40), nullable=False),
        sa.Column("outbox", sa.String(length=16), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("run", sa.String(length=24), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("received", sa.Float(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_events_node")),
        sa.PrimaryKeyConstraint("node", "outbox", "sequence", name=op.f("pk_events")),
    )
    op.create_index(op.f("ix_events_run"), "events", ["run"], unique=False)
    op.create_table(
        "orders",
        sa.Column("node", sa.String(length=40), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("run", sa.String(length=24), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("signature", sa.String(length=88), nullable=False),
        sa.Column("issued", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_orders_node")),
        sa.PrimaryKeyConstraint("node", "sequence", name=op.f("pk_orders")),
    )
    op.create_index(op.f("ix_orders_issued"), "orders", ["issued"], unique=False)
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("experiment", sa.String(length=24), nullable=False),
        sa.Column("owner", sa.String(length=40), nullable=False),
        sa.Column("node", sa.String(length=40), nullable=False),
        sa.Column("server", sa.String(length=40), nullable=True),
        sa.Column("priority", sa.String(length=16), nullable=False),
        sa.Column("start", sa.Float(), nullable=False),
        sa.Column("latest", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("why", sa.String(length=500), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("due", sa.Float(), nullable=True),
        sa.Column("trigger", sa.String(length=100), nullable=True),
        sa.Column("context", sa.Text(), nullable=True),
        sa.Column("token", sa.String(length=64), nullable=True),
        sa.Column("far_end", sa.Text(), nullable=True),
        sa.Column("report", sa.Text(), nullable=True),
        sa.Column("again_of", sa.String(length=24), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("started", sa.Float(), nullable=True),
        sa.Column("ended", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["experiment"], ["experiments.id"], name=op.f("fk_runs_experiment")
        ),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_runs_node")),
        sa.ForeignKeyConstraint(["server"], ["nodes.name"], name=op.f("fk_runs_server")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index("ix_runs_due", "runs", ["due"], unique=False)
    op.create_index(op.f("ix_runs_experiment"), "runs", ["experiment"], unique=False)
    op.create_index("ix_runs_node_start", "runs", ["node", "start"], unique=False)
    op.create_index(
        "uq_runs_occurrence",
        "runs",
        ["experiment", "start", "again_of"],
        unique=True,
        sqlite_where=sa.text('"trigger" IS NULL'),
        postgresql_where=sa.text('"trigger" IS NULL'),
    )
    op.create_table(
        "artefacts",
        sa.Column("run", sa.String(length=24), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("upload", sa.String(length=24), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("stored", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_artefacts_run")),
        sa.PrimaryKeyConstraint("run", "name", name=op.f("pk_artefacts")),
        sa.UniqueConstraint("upload", name=op.f("uq_artefacts_upload")),
    )
    op.create_table(
        "reservations",
        sa.Column("run", sa.String(length=24), nullable=False),
        sa.Column("resource", sa.String(length=40), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("share", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_reservations_run")),
        sa.PrimaryKeyConstraint("run", "resource", name=op.f("pk_reservations")),
    )
    op.create_index(
        "ix_reservations_resource_until", "reservations", ["resource", "until"], unique=False
    )
    op.create_table(
        "transitions",
        sa.Column("run", sa.String(length=24), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("why", sa.String(length=500), nullable=False),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_transitions_run")),
        sa.PrimaryKeyConstraint("run", "number", name=op.f("pk_transitions")),
    )
    op.create_index(
        "uq_transitions_final",
        "transitions",
        ["run"],
        unique=True,
        sqlite_where=sa.text("final"),
        postgresql_where=sa.text("final"),
    )
    if op.get_bind().dialect.name == "sqlite":
        _lock_sqlite()
    else:
        _lock_postgresql()


def _lock_sqlite() -> None:
    """Refuse a reservation beside one that it may not be beside, whoever writes it."""
    for action in ("INSERT", "UPDATE"):
        op.execute(
            f"""
            CREATE TRIGGER reservations_{action.lower()} BEFORE {action} ON reservations
            WHEN NEW.share IS NOT NULL AND EXISTS (
                SELECT 1 FROM reservations there
                WHERE there.resource = NEW.resource AND there.run <> NEW.run
                AND there.share <> NEW.share
                AND there.start < NEW.until AND NEW.start < there.until
            )
            BEGIN SELECT RAISE(ABORT, 'the time is taken'); END
            """
        )


def _lock_postgresql() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS btree_gist")
    op.execute(
        """
        ALTER TABLE reservations ADD CONSTRAINT reservations_taken EXCLUDE USING gist (
            resource WITH =, share WITH <>, int8range(start, until) WITH &&
        ) WHERE (share IS NOT NULL)
        """
    )
