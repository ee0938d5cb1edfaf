"""Films to play, made by ffmpeg when they are first used, and their frame tables."""

from skyweave.video.film import Film, film, kinds

__all__ = ["Film", "film", "kinds"]
