"""What all pictures share: colours, and words for numbers."""

__all__: list[str] = []
