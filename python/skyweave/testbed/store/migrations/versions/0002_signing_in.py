"""Passkeys, links to OpenID providers, and which of them began a session."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables, and the column of tokens."""
    op.create_table(
        "passkeys",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=False),
        sa.Column("credential", sa.String(length=1366), nullable=False),
        sa.Column("handle", sa.String(length=88), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("uses", sa.BigInteger(), nullable=False),
        sa.Column("label", sa.String(length=100), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("used", sa.Float(), nullable=True),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["person"], ["people.name"], name=op.f("fk_passkeys_person")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passkeys")),
        sa.UniqueConstraint("credential", name=op.f("uq_passkeys_credential")),
    )
    op.create_index(op.f("ix_passkeys_person"), "passkeys", ["person"], unique=False)
    op.add_column("tokens", sa.Column("began_by", sa.String(length=24), nullable=True))
    op.create_table(
        "identities",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=False),
        sa.Column("issuer", sa.String(length=255), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["people.name"], name=op.f("fk_identities_person")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identities")),
    )
    op.create_index(op.f("ix_identities_person"), "identities", ["person"], unique=False)
    op.create_index(
        "uq_identities_issuer_subject", "identities", ["issuer", "subject"], unique=True
    )
