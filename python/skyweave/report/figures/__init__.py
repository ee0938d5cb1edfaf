"""The figures of a report, one file for each kind."""

__all__: list[str] = []
