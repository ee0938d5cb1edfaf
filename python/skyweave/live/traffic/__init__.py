"""What sends and receives in live runs, and what the kernel says meanwhile."""

__all__: list[str] = []
