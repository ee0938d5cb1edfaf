"""Criteria of a study against its runs: findings, and how they are graded."""
