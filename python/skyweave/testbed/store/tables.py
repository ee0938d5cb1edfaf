"""The tables of the orchestrator. Times are Unix seconds; documents are JSON as text."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)
_NAME, _ID, _DIGEST = String(40), String(24), String(64)

people = Table(
    "people", metadata,
    Column("name", _NAME, primary_key=True),
    Column("role", String(16), nullable=False),
    Column("created", Float, nullable=False),
    Column("disabled", Float),
)  # fmt: skip
tokens = Table(
    "tokens", metadata,
    Column("id", _ID, primary_key=True),
    Column("person", _NAME, ForeignKey("people.name"), nullable=False, index=True),
    Column("hash", _DIGEST, nullable=False, unique=True),
    Column("label", String(100), nullable=False),
    Column("scopes", String(200), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("revoked", Float),
    Column("began_by", _ID),  # the passkey, or the identity, that began the session it is of
)  # fmt: skip
passkeys = Table(
    "passkeys", metadata,
    Column("id", _ID, primary_key=True),
    Column("person", _NAME, ForeignKey("people.name"), nullable=False, index=True),
    Column("credential", String(1366), nullable=False, unique=True),
    Column("handle", String(88), nullable=False),
    Column("public_key", Text, nullable=False),
    Column("uses", BigInteger, nullable=False),  # as its device counts them
    Column("label", String(100), nullable=False),
    Column("created", Float, nullable=False),
    Column("used", Float),
    Column("revoked", Float),
)  # fmt: skip
identities = Table(
    "identities", metadata,
    Column("id", _ID, primary_key=True),
    Column("person", _NAME, ForeignKey("people.name"), nullable=False, index=True),
    Column("issuer", String(255), nullable=False),
    Column("subject", String(255), nullable=False),
    Column("created", Float, nullable=False),
    Index("uq_identities_issuer_subject", "issuer", "subject", unique=True),
)  # fmt: skip
codes = Table(
    "codes", metadata,
    Column("hash", _DIGEST, primary_key=True),
    Column("kind", String(16), nullable=False),  # admin, node, server
    Column("person", _NAME),  # whose node it becomes
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("used", Float),
)  # fmt: skip
nodes = Table(
    "nodes", metadata,
    Column("name", _NAME, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("owner", _NAME, ForeignKey("people.name"), nullable=False, index=True),
    Column("key", String(44), nullable=False, unique=True),
    Column("address", String(45)),
    Column("joined", Float, nullable=False),
    Column("revoked", Float),
    Column("paused", Boolean, nullable=False, default=False),
    Column("seen", Float),
    Column("heartbeat", Text),
    Column("newest_order", BigInteger, nullable=False, default=0),
)  # fmt: skip
experiments = Table(
    "experiments", metadata,
    Column("id", _ID, primary_key=True),
    Column("owner", _NAME, ForeignKey("people.name"), nullable=False, index=True),
    Column("title", String(200), nullable=False),
    Column("plan", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("ended", Float),
    Column("materialised", BigInteger, nullable=False, default=0),  # runs before this are made
    Index("ix_experiments_going", "ended", "materialised"),
)  # fmt: skip
runs = Table(
    "runs", metadata,
    Column("id", _ID, primary_key=True),
    Column("experiment", _ID, ForeignKey("experiments.id"), nullable=False, index=True),
    Column("owner", _NAME, nullable=False),
    Column("node", _NAME, ForeignKey("nodes.name"), nullable=False),
    Column("server", _NAME, ForeignKey("nodes.name")),
    Column("priority", String(16), nullable=False),
    Column("start", Float, nullable=False),
    Column("latest", Float, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("state", String(16), nullable=False),
    Column("outcome", String(16)),  # what the node said, before the artefacts are in
    Column("why", String(500), nullable=False, default=""),
    Column("fence", BigInteger, nullable=False),
    Column("due", Float),  # when to look again without news; null once it is over
    Column("trigger", String(100)),
    Column("context", Text),
    Column("token", String(64)),  # what its server answers to
    Column("far_end", Text),
    Column("report", Text),  # the node's Finished
    Column("again_of", _ID, nullable=False, default=""),
    Column("created", Float, nullable=False),
    Column("started", Float),
    Column("ended", Float),
    Index("ix_runs_due", "due"),
    Index("ix_runs_node_start", "node", "start"),
    Index(  # an occurrence of a schedule becomes one run
        "uq_runs_occurrence", "experiment", "start", "again_of", unique=True,
        sqlite_where=text('"trigger" IS NULL'), postgresql_where=text('"trigger" IS NULL'),
    ),
)  # fmt: skip
transitions = Table(
    "transitions", metadata,
    Column("run", _ID, ForeignKey("runs.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("at", Float, nullable=False),
    Column("why", String(500), nullable=False, default=""),
    Column("final", Boolean, nullable=False),
    Index(  # a run ends once
        "uq_transitions_final", "run", unique=True, sqlite_where=text("final"),
        postgresql_where=text("final"),
    ),
)  # fmt: skip
reservations = Table(
    "reservations", metadata,
    Column("run", _ID, ForeignKey("runs.id"), primary_key=True),
    Column("resource", _NAME, primary_key=True),
    Column("start", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("share", BigInteger),  # 0: with others of 0; else alone; null: background
    Index("ix_reservations_resource_until", "resource", "until"),
)  # fmt: skip
orders = Table(
    "orders", metadata,
    Column("node", _NAME, ForeignKey("nodes.name"), primary_key=True),
    Column("sequence", BigInteger, primary_key=True),
    Column("run", _ID),
    Column("text", Text, nullable=False),
    Column("signature", String(88), nullable=False),
    Column("issued", Float, nullable=False, index=True),
)  # fmt: skip
events = Table(
    "events", metadata,
    Column("node", _NAME, ForeignKey("nodes.name"), primary_key=True),
    Column("outbox", String(16), primary_key=True),
    Column("sequence", BigInteger, primary_key=True),
    Column("run", _ID, index=True),
    Column("kind", String(16), nullable=False),
    Column("time", Float, nullable=False),
    Column("received", Float, nullable=False),
    Column("body", Text, nullable=False),
)  # fmt: skip
artefacts = Table(
    "artefacts", metadata,
    Column("run", _ID, ForeignKey("runs.id"), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("upload", _ID, nullable=False, unique=True),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", _DIGEST, nullable=False),
    Column("stored", Float),
)  # fmt: skip
inputs = Table(
    "inputs", metadata,
    Column("sha256", _DIGEST, primary_key=True),
    Column("owner", _NAME, ForeignKey("people.name"), primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("created", Float, nullable=False),
)  # fmt: skip
audit = Table(
    "audit", metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("at", Float, nullable=False, index=True),
    Column("who", _NAME, nullable=False),
    Column("action", String(40), nullable=False),
    Column("what", String(200), nullable=False),
    Column("detail", String(1000), nullable=False, default=""),
)  # fmt: skip
counters = Table(
    "counters", metadata,
    Column("name", String(16), primary_key=True),
    Column("value", BigInteger, nullable=False),
)  # fmt: skip
facts = Table(
    "facts", metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)  # fmt: skip
