"""Criteria of a study against its runs: findings, and how they are graded."""

__all__: list[str] = []
