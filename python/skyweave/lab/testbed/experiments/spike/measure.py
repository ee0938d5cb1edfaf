"""In a run: a file over each uplink alone, then over all of them at once, by multipath QUIC.

    python3 measure.py SECONDS [FILE]

Own probes to the server go first, for SECONDS seconds (0: none). FILE is one of the server's (1MB,
10MB, ...). Results: ``context.json``, what a trigger saw; ``probes/``; ``goodput.json``.
"""

import json
import os
import subprocess
import sys
import time
from typing import Any

SERVER = os.environ.get("SKYWEAVE_SERVER", "")
UPLINKS = os.environ.get("SKYWEAVE_UPLINKS", "").split(",")
PATIENCE_S = 30


def skyweave(*words: str) -> str:
    """Run a command of skyweave's; return what it printed."""
    return subprocess.run(["skyweave", *words], check=True, capture_output=True, text=True).stdout


def fetch(said: dict[str, Any], name: str, uplinks: list[str]) -> float | None:
    """Return the goodput of one download in Mbit/s; None if it does not end in time."""
    out = f"/tmp/{'-'.join(uplinks)}"
    paths = [word for one in uplinks for word in ("--path", one)]
    url = f"{SERVER}:{said['services']['quic']}/{name}"
    began = time.monotonic()
    try:
        subprocess.run(
            ["skyweave", "quic", "get", url, "--pin", said["pin"], *paths, "--out", out, "--quiet"],
            check=True, timeout=PATIENCE_S,
        )  # fmt: skip
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        sys.stdout.write(f"{' and '.join(uplinks)}: {error}\n")
        return None
    took = time.monotonic() - began
    size = os.path.getsize(out)  # noqa: PTH202
    os.remove(out)  # noqa: PTH107
    return size * 8e-6 / took


def compare(said: dict[str, Any], name: str) -> None:
    """Fetch a file in each way, and write what came out."""
    together = [UPLINKS] if len(UPLINKS) > 1 else []
    found: dict[str, float | None] = {}
    for uplinks in [[one] for one in UPLINKS] + together:
        found[" + ".join(uplinks)] = fetch(said, name, uplinks)
    with open("goodput.json", "w") as file:  # noqa: PTH123
        json.dump({"file": name, "mbps": found}, file, indent=1)
    words = (f"{way}: {mbps:.1f} Mbit/s" for way, mbps in found.items() if mbps)
    sys.stdout.write("; ".join(words) + "\n")


def main() -> None:
    """Measure."""
    seconds, files = sys.argv[1], sys.argv[2:]
    with open("context.json", "w") as file:  # noqa: PTH123
        file.write(os.environ["SKYWEAVE_CONTEXT"])
    said = json.loads(skyweave("measure", "knock"))
    if float(seconds) > 0:
        probe = f"{SERVER}:{said['services']['probe']}"
        skyweave("probe", "run", "--udp", probe, "--duration", seconds, "--out", "probes")
    for name in files:
        compare(said, name)


if __name__ == "__main__":
    main()
