#!/usr/bin/env python3
"""What an orchestrator takes with idle nodes, and how soon a run that is submitted begins.

    tests/testbed/load.py [--nodes 100] [--seconds 120] [--runs 200]

The nodes are threads of one other process, each with a request held and a heartbeat each 30 s.
Printed are the orchestrator's share of a core and its memory, then for single runs on an idle node
the time from the request that submits one to its order on the node, over TLS on loopback.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from http_node import HttpNode
from orchestrator import Orchestrator

PLAN = {
    "title": "t", "kind": "command", "when": {"kind": "soon", "seconds": 1}, "tolerance_s": 1,
    "work": {"kind": "command", "argv": ["true"]},
}  # fmt: skip


def idle(there: Orchestrator, count: int, seconds: float) -> list[HttpNode]:
    """Join nodes, wait, and print what they cost."""
    nodes = []
    for number in range(count):
        node = HttpNode(f"node-{number}", there.invite(), there.certificate)
        node.start()
        nodes.append(node)
    time.sleep(5)
    before, _ = there.usage()
    time.sleep(seconds)
    after, megabytes = there.usage()
    share = 100 * (after - before) / seconds
    print(f"{count} idle nodes for {seconds:.0f} s: {share:.1f} % of a core, {megabytes:.0f} MB")
    return nodes


def latencies(there: Orchestrator, nodes: list[HttpNode], count: int) -> None:
    """Submit runs, one after the other on another node each, and print how soon they are heard."""
    took = []
    with there.testbed() as testbed:
        for number in range(count):
            node = nodes[number % len(nodes)]
            asked = time.time()
            run = testbed.submit(PLAN | {"node": node.name})["runs"][0]
            while run not in node.heard or run not in node.begun:
                time.sleep(0.001)
            took.append(node.heard[run] - asked)
    took.sort()
    print(
        f"{count} runs, submitted to heard on the node: median {1000 * took[count // 2]:.0f} ms, "
        f"p99 {1000 * took[int(0.99 * count)]:.0f} ms, most {1000 * took[-1]:.0f} ms"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--nodes", type=int, default=100)
    options.add_argument("--seconds", type=float, default=120)
    options.add_argument("--runs", type=int, default=200)
    wanted = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        there = Orchestrator(Path(folder) / "office")
        nodes = idle(there, wanted.nodes, wanted.seconds)
        latencies(there, nodes, wanted.runs)
        there.kill()


if __name__ == "__main__":
    main()
