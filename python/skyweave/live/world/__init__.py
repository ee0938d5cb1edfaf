"""Network namespaces of a live run: made, wired, controlled, and given back."""

__all__: list[str] = []
