"""Telemetry: what a dish says of itself, and what own probes measure; docs/telemetry.md.

* ``dish``: a client, a recorder's rows, and a fake dish that real clients read
* ``store``: rows of hours in Parquet files, with a quota
"""

from skyweave.telemetry.store import Store

__all__ = ["Store"]
