"""A player that shows nothing: it fetches a film to its end, and writes the record of a driver."""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def main(qualities: tuple[int, ...] = ()) -> int:
    """Fetch the film; 2 and a sentence if the server does not give it."""
    url, out = sys.argv[1], Path(sys.argv[3])
    with (out / "playback.jsonl").open("w") as lines:

        def tell(event: str, **more: object) -> None:
            line = {"monotonic_ns": time.monotonic_ns(), "event": event, "discarded": 0}
            lines.write(json.dumps({**line, "underflows": 0, "stall_s": 0.0, **more}) + "\n")
            lines.flush()

        tell("asked")
        try:
            with urllib.request.urlopen(url) as response:
                while response.read(1 << 16):
                    tell("playing", film_s=1.0, position_s=0.0)
        except urllib.error.URLError as error:
            sys.stderr.write(f"the film did not come: {error.reason}.\n")
            return 2
        for quality in qualities:
            tell("switch", quality=quality, position_s=0.5)
        tell("ended", position_s=1.0)
    summary = {"player": "vlc", "version": "stub", "processor": {"player_share": 0.01}}
    (out / "summary.json").write_text(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
