"""A player that shows nothing: it fetches a film to its end, and writes the record of a driver."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit


def wait(variable: str) -> None:
    """Wait for the file that a variable names; it is not waited for where there is none."""
    name = os.environ.get(variable)
    while name and not Path(name).exists():
        time.sleep(0.01)


def main() -> None:
    """Fetch the film; a server that does not give it is an error on the last line."""
    url, out = sys.argv[1], Path(sys.argv[3])
    with (out / "playback.jsonl").open("w") as lines:

        def tell(event: str, **more: object) -> None:
            line = {"monotonic_ns": time.monotonic_ns(), "event": event, "discarded": 0}
            lines.write(json.dumps({**line, "underflows": 0, "stall_s": 0.0, **more}) + "\n")
            lines.flush()

        tell("asked")
        size = 0
        at = urlsplit(url)
        with closing(HTTPConnection(at.netloc)) as server:
            server.request("GET", at.path)
            response = server.getresponse()
            if response.status != 200:
                raise SystemExit(f"the server answers {response.status}")
            while piece := response.read(1 << 16):
                size += len(piece)
                tell("playing", film_s=1.0, position_s=0.0)
                wait("FILM_JOINED")
            wait("FILM_SEEN")
        tell("ended", position_s=1.0)
    summary = {"player": "vlc", "version": "stub", "fetched_bytes": size}
    (out / "summary.json").write_text(json.dumps(summary))


if __name__ == "__main__":
    main()
