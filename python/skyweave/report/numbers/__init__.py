"""Records reduced to the numbers of a report."""
