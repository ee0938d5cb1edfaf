"""What all pictures share: colours, and words for numbers."""
