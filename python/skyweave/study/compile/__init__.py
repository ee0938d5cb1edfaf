"""A plan and its drives, multiplied out into runs."""
