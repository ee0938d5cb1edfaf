"""The page of a report, its summary, and the words around its numbers."""

__all__: list[str] = []
