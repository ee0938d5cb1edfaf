"""How Alembic reaches the database: by the connection that ``migrate`` has open."""

from alembic import context

from skyweave.testbed.store.tables import metadata

if hasattr(context, "config"):  # else it is only looked at
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=metadata)
    context.run_migrations()
