"""What all rooms share: runs, records, drives, checked models and texts."""

__all__: list[str] = []
