"""The qlog of both ends, read by the viewer qvis's own loader in node.

qvis is in no registry: ``scripts/install-qvis FOLDER`` fetches it, and the variable QVIS names the
folder.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from quic_ends import Serve, get

LOADER = Path(__file__).with_name("qvis_load.mjs")
QVIS = os.environ.get("QVIS")
BYTES = 1_000_000
NUMBERS = ("bytes_in_flight", "congestion_window", "smoothed_rtt", "min_rtt", "latest_rtt")
"""What the congestion graph of qvis draws."""

pytestmark = pytest.mark.skipif(
    QVIS is None or shutil.which("node") is None,
    reason="QVIS names no folder of scripts/install-qvis, or there is no node",
)


def loaded(folder: Path, files: list[Path]) -> dict[str, Any]:
    """What qvis sees in files, and what it complains of."""
    command = ["node", str(LOADER), str(QVIS), str(folder / "loader.mjs"), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def written(file: Path) -> list[dict[str, Any]]:
    """The events of a file, without its header (RFC 7464)."""
    return [json.loads(record) for record in file.read_text().split("\x1e")[2:]]


def test_qvis_opens_what_both_ends_write(serve: Serve, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    server = serve("--qlog", str(logs))
    (server.root / "file").write_bytes(os.urandom(BYTES))
    said = get(
        f"127.0.0.1:{server.port}/file", "--pin", server.pin, "--out", str(tmp_path / "out"),
        "--path", "127.0.0.1", "--path", "127.0.0.2", "--qlog", str(logs),
    )  # fmt: skip
    assert said.code == 0, said.err
    server.process.send_signal(signal.SIGINT)  # SIGTERM would cost the end of its log
    server.process.wait()
    files = sorted(logs.glob("*.sqlog"))  # client, server
    found = loaded(tmp_path, files)
    assert found["complaints"] == []
    for name, file, connections in zip(("client", "server"), files, found["seen"], strict=True):
        (one,) = connections
        events = written(file)
        assert one["from"] == name
        assert Counter(one["names"]) == Counter(event["name"] for event in events)
        assert one["ms"] == [event["time"] for event in events]
        for kind in ("sent", "received"):
            assert one[kind], f"{name} has no packets {kind}"
            for packet in one[kind]:
                assert packet["raw"]["length"] > 0
                assert isinstance(packet["header"]["packet_number"], int)
        assert one["metrics"]
        for metrics in one["metrics"]:
            assert {key for key in NUMBERS if isinstance(metrics[key], int | float)} == {*NUMBERS}
    data = [frame for packet in found["seen"][1][0]["sent"] for frame in packet["frames"]
            if frame["frame_type"] == "stream"]  # fmt: skip
    assert sum(frame["length"] for frame in data) > BYTES


def test_a_file_of_another_version_would_be_refused(tmp_path: Path) -> None:
    """So that no complaint means something."""
    header = {"qlog_version": "9", "qlog_format": "JSON-SEQ", "trace": {"vantage_point": {}}}
    event = {"time": 0, "name": "transport:packet_sent", "data": {}}
    file = tmp_path / "made-up.sqlog"
    file.write_text("".join(f"\x1e{json.dumps(record)}\n" for record in (header, event)))
    found = loaded(tmp_path, [file])
    assert found["seen"] == [[]]
    assert "Unknown qlog version" in found["complaints"][0]
