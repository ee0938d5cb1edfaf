"""A plan and its drives, multiplied out into runs."""

__all__: list[str] = []
