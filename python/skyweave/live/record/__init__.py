"""What a live run saw, gathered into a record."""
