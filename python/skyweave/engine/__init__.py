"""The simulator as an engine, and schedulers written in Python."""

__all__: list[str] = []
