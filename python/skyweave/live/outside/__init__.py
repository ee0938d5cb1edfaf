"""A world's way out: its server's end reaches the real network of the host."""

__all__: list[str] = []
