"""What a study file can say, checked."""
