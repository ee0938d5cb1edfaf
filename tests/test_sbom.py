"""The bill of materials has everything that is pinned."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[1]


def test_everything_pinned_is_in_the_bill_with_a_hash() -> None:
    bills = [
        subprocess.run(
            [sys.executable, ROOT / "scripts" / "sbom"], check=True, capture_output=True
        ).stdout
        for _ in range(2)
    ]
    assert bills[0] == bills[1]
    bill = json.loads(bills[0])
    assert bill["bomFormat"] == "CycloneDX"
    assert all(one["hashes"] for one in bill["components"])
    known = {unquote(one["purl"]) for one in bill["components"]}
    crates = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    wanted = {f"pkg:cargo/{one['name']}@{one['version']}" for one in crates if "checksum" in one}
    assert wanted < known
    assert {"pkg:pypi/rich", "pkg:pypi/polars"} <= {one.partition("@")[0] for one in known}
    edges = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    rustls = next(ref for ref in edges if ref.startswith("pkg:cargo/rustls@"))
    assert any(other.startswith("pkg:cargo/ring@") for other in edges[rustls])
