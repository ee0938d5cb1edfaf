"""An adaptive player that shows nothing: it fetches a manifest, and tells of two qualities."""

from __future__ import annotations

import sys

from stub_players.vlc import main

if __name__ == "__main__":
    sys.exit(main(qualities=(0, 1)))
