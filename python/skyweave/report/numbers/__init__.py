"""Records reduced to the numbers of a report."""

__all__: list[str] = []
