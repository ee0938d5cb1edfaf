"""A compiled study, run: engines, threads or a cluster, and records kept."""

__all__: list[str] = []
