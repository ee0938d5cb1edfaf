"""What a live run saw, gathered into a record."""

__all__: list[str] = []
