"""The page of ``compare`` as a browser lays it out: nothing off-screen, cut or empty."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from made_logs import write_log
from typer.testing import CliRunner

from skyweave.cli.app import app

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
PROBE = (Path(__file__).parent / "page_probe.js").read_text()
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"there is none of {', '.join(BROWSERS)}")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("layout")
    logs = [
        write_log(folder / f"{name}.csv", [3.0 + at * (second % 7) for second in range(20)])
        for at, name in enumerate(("starlink", "verizon"), start=1)
    ]
    words = ["compare", *map(str, logs), "--rtt", "40,60", "--out", str(folder / "out")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return (folder / "out" / "report.html").read_text()


def laid_out(page: str, folder: Path, width: int, dark: bool = False) -> dict[str, Any]:
    """What the browser says of a page in a window of this width."""
    file = folder / "page.html"
    inside = html.escape(page.replace("</body>", f"<script>{PROBE}</script></body>"))
    # A frame, because no window is as narrow as a telephone.
    frame = f'<iframe style="width: {width}px; height: 900px; border: 0" srcdoc="{inside}">'
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{frame}</iframe></body>")
    done = subprocess.run(
        [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--user-data-dir={folder / 'profile'}", "--window-size=1300,900",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            "--dump-dom", file.as_uri(),
        ],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr
    facts: dict[str, Any] = json.loads(html.unescape(found[1]))
    return facts


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_is_off_screen_cut_or_empty(
    page: str, tmp_path: Path, width: int, dark: bool
) -> None:
    found = laid_out(page, tmp_path, width, dark)
    assert (found["width"], found["dark"]) == (width, dark)
    assert found["page"] <= width
    for key in ("off", "cut", "empty", "mute", "scrolled"):
        assert found[key] == [], key
    assert found["figures"] >= 4
    light = sum(map(int, re.findall(r"\d+", found["paper"])[:3])) / 3
    assert (light < 60) if dark else (light > 200)


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("off", "</style>", ".found, .question { width: 900px; max-width: none; }</style>"),
        ("cut", "</style>", "figure svg text { font-size: 60px !important; }</style>"),
        ("empty", "clip-path=", "data-gone="),
        ("scrolled", "</style>", ".scroll.wide { display: block; }</style>"),
        ("mute", 'class="scroll" tabindex="0"', 'class="scroll" style="width: 90px"'),
    ],
)  # fmt: skip
def test_a_page_that_is_wrong_is_found_to_be(
    page: str, tmp_path: Path, key: str, old: str, new: str
) -> None:
    assert old in page
    assert laid_out(page.replace(old, new), tmp_path, 400)[key] != []
