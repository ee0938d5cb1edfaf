#!/usr/bin/env python3
"""How soon a run that is submitted begins in the sandbox of a real, idle node.

    tests/testbed/starts.py [--runs 50]      (root)

Orchestrator and node are processes in namespaces, over TLS. Counted is from the reservation, which
is written with the order, to the moment at which the node says that the run's process ran.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from owner import owners
from test_together import Stage, prepare


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--runs", type=int, default=50)
    wanted = options.parse_args()
    took = []
    with tempfile.TemporaryDirectory() as folder, owners() as owner:
        stage = Stage(owner, Path(folder))
        try:
            prepare(stage)
            for _ in range(wanted.runs):
                found = json.loads(
                    stage.cli("testbed", "submit", "--node", "alice", "--seconds", "5",
                              "--wait", "--json", "--", "true")
                )  # fmt: skip
                took.append(found["run"]["started_unix_s"] - found["history"][0]["at_unix_s"])
        finally:
            stage.end()
    took.sort()
    print(
        f"{len(took)} runs, ordered to started: median {1000 * took[len(took) // 2]:.0f} ms, "
        f"p99 {1000 * took[int(0.99 * len(took))]:.0f} ms"
    )


if __name__ == "__main__":
    main()
