"""Films to play, made by ffmpeg when they are first used, and their frame tables."""

from skyweave.video.film import Film, film, kinds
from skyweave.video.ladder import DashLadder, check_ladder, ladder

__all__ = ["DashLadder", "Film", "check_ladder", "film", "kinds", "ladder"]
