"""Files and studies that ask for the machine are refused in a sentence, before they get it.

The worst run the command line as a person does, and are measured: exit code 2, one line on standard
error, a bound on resident memory; processor time is limited, so that silence fails. The others call
it in this process, with a bound on how far its memory may grow.
"""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from skyweave.errors import SkyweaveError

MIB = 2**20
ROOM_MIB = 700
"""What a refusal may take; the libraries alone take 150."""
CPU_S = 60
GROWS_MIB = 600
"""By how much the addresses of a process may grow that refuses: libraries that it loads, too."""

STUDY = """
[study]
name = "small"
title = "Small"

[[drives]]
name = "made"
preset = "alaska"
seeds = 1
duration_s = 10

[paths.starlink]
rtt_ms = 50

[paths.verizon]
rtt_ms = 50

[settings]
allow_dead_paths = true
"""


@dataclass(frozen=True)
class Seen:
    """How a command ended."""

    code: int
    said: str
    peak_mib: float


LIMITED = f"""
import os, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({CPU_S}, {CPU_S}))
resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30, 16 * 2**30))
os.execv(sys.executable, [sys.executable, "-m", "skyweave.cli", *sys.argv[1:]])
"""


def command(folder: Path, *words: object) -> Seen:
    """Run ``skyweave`` in a folder and measure it."""
    with (folder / "said").open("w") as said:
        child = subprocess.Popen(
            [sys.executable, "-c", LIMITED, *map(str, words)],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
        )  # fmt: skip
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    text = (folder / "said").read_text(errors="replace")
    return Seen(child.returncode, text, usage.ru_maxrss / 1024)


def refused(seen: Seen, *parts: str, room_mib: float = ROOM_MIB) -> None:
    assert seen.code == 2, (seen.code, seen.said[-2000:])
    assert seen.said.startswith("skyweave: "), seen.said[:2000]
    assert seen.said.count("\n") == 1, seen.said[:2000]
    assert len(seen.said) < 3000
    for part in parts:
        assert part in seen.said, seen.said
    assert seen.peak_mib < room_mib, seen.peak_mib


def sentence(room_mib: int, *words: object) -> str:
    """The sentence with which a command refuses in this process, which grows by ``room_mib``."""
    from skyweave.cli.app import app

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + room_mib * MIB, hard))
    try:
        with pytest.raises(SkyweaveError) as caught:
            app(list(map(str, words)), standalone_mode=False)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 3000
    return said


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_fifteen_bytes_of_mahimahi_ask_for_74_gib(tmp_path: Path) -> None:
    (tmp_path / "x.down").write_text("0\n99999999999\n")
    refused(command(tmp_path, "data", "stats", "x.down"), "x.down:2", "more than a week")


def bomb(file: Path, mib: int, content: bytes = b"0\n") -> None:
    """A gzip file that unpacks to a number of MiB of one byte."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    part = content * (MIB // len(content))
    with file.open("wb") as opened:
        for _ in range(mib):
            opened.write(packer.compress(part))
        opened.write(packer.flush())


def test_a_mib_of_gzip_unpacks_to_more_than_a_gib(tmp_path: Path) -> None:
    """Three times as much was unpacked before; what is beyond the bound is not looked at."""
    bomb(tmp_path / "x.down.gz", 1100)
    assert (tmp_path / "x.down.gz").stat().st_size < 5 * MIB
    seen = command(tmp_path, "data", "stats", "x.down.gz")
    refused(seen, "unpacks to more than 1,073,741,824 bytes", room_mib=2600)


def test_a_thousand_million_seeds(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDIES["seeds"][0])
    refused(command(tmp_path, "run", "study.toml"), STUDIES["seeds"][1])


def test_a_device_is_not_read_to_its_end(tmp_path: Path) -> None:
    refused(command(tmp_path, "data", "stats", "/dev/zero"), "/dev/zero")


def test_many_members_of_gzip_count_together(tmp_path: Path) -> None:
    bomb(tmp_path / "one", 200)
    one = (tmp_path / "one").read_bytes()
    (tmp_path / "x.down.gz").write_bytes(one * 6)
    seen = command(tmp_path, "data", "stats", "x.down.gz")
    refused(seen, "unpacks to more than", room_mib=2600)


def zero(folder: Path) -> str:
    return "/dev/zero"


def link_to_zero(folder: Path) -> str:
    (folder / "x.csv").symlink_to("/dev/zero")
    return "x.csv"


def pipe(folder: Path) -> str:
    os.mkfifo(folder / "x.csv")
    return "x.csv"


def circle(folder: Path) -> str:
    (folder / "x.csv").symlink_to("y.csv")
    (folder / "y.csv").symlink_to("x.csv")
    return "x.csv"


def sparse(folder: Path) -> str:
    """A file of two TiB that takes no room on the disk."""
    (folder / "x.csv").touch()
    os.truncate(folder / "x.csv", 2 * 2**40)
    return "x.csv"


NO_FILES: list[Callable[[Path], str]] = [zero, link_to_zero, pipe, circle, sparse]
READERS = {
    "traces": ("data", "stats"),
    "forecasts": ("forecast", "show"),
    "measurements": ("forecast", "slots"),
    "cells": ("radio", "capacity"),
    "studies": ("run", "--dry-run"),
    "presets": ("data", "synthesise", "--out", "out.csv"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("make", NO_FILES)
def test_only_regular_files_of_a_size_are_read(
    tmp_path: Path, make: Callable[[Path], str], reader: str
) -> None:
    name = make(tmp_path)
    if reader == "presets":
        (tmp_path / "x.toml").symlink_to(name)
        name = "x.toml"
    assert name in sentence(GROWS_MIB, *READERS[reader], name)


def test_a_folder_of_devices_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    os.mkfifo(folder / "a.csv")
    (folder / "b.csv").symlink_to("/dev/zero")
    (folder / "c.csv").symlink_to(folder)
    assert "no file in this folder" in sentence(GROWS_MIB, "data", "stats", "traces")


DEEP = 100_000
STUDIES = {
    "seeds": (STUDY.replace("seeds = 1", "seeds = 1000000000"), "1,000,000,000 drives"),
    "a list of seeds": (
        STUDY.replace("seeds = 1", f"seeds = {list(range(1000))}")
        + "\n[[compare]]\nbuffer_mb = "
        + str([n + 1 for n in range(2000)]),
        "runs, and 1,000,000 may be",
    ),
    "settings": (
        STUDY
        + "\n[[compare]]\n"
        + "\n".join(
            f"{key} = {[n + 1 for n in range(500)]}"
            for key in ("send_buffer_mb", "receive_buffer_mb", "file_mib")
        ),
        "runs, and 1,000,000 may be",
    ),
    "parameters": (
        STUDY
        + '\n[[compare]]\ncongestion = { name = "bbr2", '
        + ", ".join(f"{name} = {list(range(2000))}" for name in ("loss_thresh", "beta", "headroom"))
        + " }",
        "combinations; shorten them",
    ),
    "path sets": (
        STUDY
        + "\n".join(f"[paths.p{n}]\nrtt_ms = 50" for n in range(2000))
        + '\n[[compare]]\npaths = ["triples"]',
        "runs, and 1,000,000 may be",
    ),
    "flows": (
        STUDY + '\n[[compare]]\nflows = [{ congestion = "cubic", count = 1000000000 }]',
        "less than or equal to 10000",
    ),
    "a long drive": (STUDY.replace("duration_s = 10", "duration_s = 1e15"), "604800"),
    "samples": (
        STUDY.replace("duration_s = 10", "duration_s = 604800") + "\nsample_interval_ms = 1",
        "raise sample_interval_ms",
    ),
    "bins": (STUDY + "\n[report]\nbin_s = 1e-9", "raise bin_s"),
    "handovers": (
        STUDY.replace(
            "rtt_ms = 50",
            'rtt_ms = "handovers"\nhandovers = { every_s = 1e-9, rtt_ms = [20, 30] }',
            1,
        ),
        "handovers every 1e-09 s",
    ),
    "bootstrap": (STUDY + "\n[report]\nbootstrap = 1000000000", "less than or equal to"),
    "brackets": ("x = " + "[" * DEEP + "]" * DEEP, "nested more than 32 deep"),
    "tables": ("x = " + "{a=" * DEEP + "1" + "}" * DEEP, "nested more than 32 deep"),
    "a dotted key": (".".join(["a"] * 50_000) + " = 1", "nested more than 32 deep"),
    "a dotted table": ("[" + ".".join(["a"] * 50_000) + "]", "nested more than 32 deep"),
    "a dotted key in a table": (
        "x = {" + " . ".join(['"a"'] * 50_000) + " = 1}",
        "nested more than 32 deep",
    ),
    "digits": (STUDY.replace("seeds = 1", "seeds = " + "9" * 10_000), "not valid TOML"),
    "hexadecimal": (STUDY.replace("seeds = 1", "seeds = -0x" + "f" * 10_000), "TOML"),
    "hexadecimal digits": (
        STUDY.replace("seeds = 1", "seeds = 0x" + "f" * 10_000),
        "less than or equal",
    ),
    "a long word": (STUDY.replace('"alaska"', '"' + "x" * 3_000_000 + '"'), "unknown preset"),
    "a large file": ("#" * (5 * MIB), "5,242,880 bytes"),
    "not a number": (STUDY.replace("duration_s = 10", "duration_s = nan"), "duration_s"),
    "infinite": (STUDY.replace("rtt_ms = 50", "rtt_ms = inf", 1), "rtt_ms"),
    "negative": (STUDY.replace("rtt_ms = 50", "rtt_ms = -1", 1), "rtt_ms"),
}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_cannot_ask_for_the_machine(tmp_path: Path, name: str) -> None:
    text, part = STUDIES[name]
    (tmp_path / "study.toml").write_text(text)
    assert part in sentence(GROWS_MIB, "run", "study.toml", "--dry-run")


def test_max_runs_is_what_one_says(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    words = ("run", "study.toml", "--dry-run", "--max-runs")
    said = sentence(GROWS_MIB, *words, 2)
    assert "up to 3 runs, and 2 may be" in said
    assert "--max-runs" in said
    assert command(tmp_path, *words, 3).code == 0


NAMES = [
    "a\0b",
    "x" * 5000,
    "/" + "x/" * 3000,
    "../" * 500,
    "~",
    "\x1b[2J",
    "//",
    "/",
    "*" * 99,
]


@pytest.mark.parametrize("place", ["data", "published", "forecast", "scheduler", "orbit"])
@pytest.mark.parametrize("number", range(len(NAMES)))
def test_a_name_of_a_file_is_only_a_name(
    tmp_path: Path, place: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process: no name does harm, so that all that is asked is a sentence."""
    from skyweave.study.run.session import StudyOptions, prepare

    word = "".join(f"\\u{ord(sign):04x}" for sign in NAMES[number])
    text = {
        "data": STUDY.replace('preset = "alaska"\nseeds = 1\nduration_s = 10', f'data = "{word}"'),
        "published": STUDY + f'\n[report]\npublished = "{word}"',
        "forecast": STUDY.replace("rtt_ms = 50", f'rtt_ms = 50\nforecast_file = "{word}"', 1),
        "scheduler": STUDY + f'\n[[compare]]\nscheduler = "python:{word}.py:Mine"',
        "orbit": STUDY.replace(
            'preset = "alaska"\nseeds = 1',
            "[drives.links.starlink]\ndownlink_mbps = 1\nuplink_mbps = 1\n"
            f'rtt_ms = {{ orbit = {{ constellation = "{word}.tle", terminal = "47.6,-122.3", '
            'gateway = "47.6,-120" } }',
        ),
    }[place]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(text)
    (tmp_path / "data").mkdir()
    with pytest.raises(SkyweaveError) as caught:
        prepare(
            tmp_path / "study.toml",
            StudyOptions(out=tmp_path / "out", data=tmp_path / "data", code_version="test"),
        )
    assert "\n" not in str(caught.value)


JSONS = {
    "brackets": ("[" * DEEP, "nested more than 32 deep"),
    "tables": ('{"a":' * DEEP, "nested more than 32 deep"),
    "shallow enough for Python": ("[" * 500 + "]" * 500, "nested more than 32 deep"),
    "digits": ('{"a": ' + "9" * 10_000 + "}", "not JSON"),
    "nothing": ("\n", "empty"),
}


@pytest.mark.parametrize("name", JSONS)
def test_json_cannot_ask_for_the_machine(tmp_path: Path, name: str) -> None:
    text, part = JSONS[name]
    (tmp_path / "x.json").write_text(text)
    assert part in sentence(GROWS_MIB, "forecast", "show", "x.json")


HEAD = "time_s,a.downlink_mbps\n"
ECHO = "[2024-11-01T15:07:11.2-0700] 46 bytes from 1.2.3.4: icmp_seq={} ttl=4 time=5 ms\n"
TABLES = {
    "weeks": ("x.csv", HEAD + "0,1\n1e15,1\n2e15,1\n", "more than a week"),
    "rates": ("x.csv", HEAD + "0,1\n1,1e300\n2,1\n", "above 1e+06 Mbit/s"),
    "columns": ("x.csv", "time_s" + "," * 11_000_000, "10,000,000 cells"),
    "lines": ("x.csv", HEAD + "\n" * 11_000_000, "10,000,000 lines"),
    "a cell": ("x.csv", HEAD + "0," + "1" * 200_000 + "\n", "no CSV"),
    "a quote": ("x.csv", HEAD + '0,"' + "1,\n" * 200_000, "no CSV"),
    "pings": (
        "starlink_20241101_icmp_ping_1.out",
        "".join(ECHO.format(n) for n in (1, 99999999999)),
        "sequence numbers 1 to 99999999999",
    ),
    "a null": ("x.csv", HEAD + "0,\0\n", "is not a number"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_cannot_ask_for_the_machine(tmp_path: Path, name: str) -> None:
    file, text, part = TABLES[name]
    (tmp_path / f"{file}.gz").write_bytes(gzip.compress(text.encode(), 1))
    words = ("data", "import", f"{file}.gz", "--out", "out", "--format")
    form = "nuwins" if "ping" in file else "csv"
    assert part in sentence(1200, *words, form)


def test_pings_with_far_numbers(tmp_path: Path) -> None:
    answer = "[{}] 64 bytes from 1.1.1.1: icmp_seq={} ttl=5 time=40 ms\n"
    (tmp_path / "ping.log").write_text(
        answer.format(1.7e9, 1) + answer.format(1.7e9 + 1, 99999999999)
    )
    assert "sequence numbers" in sentence(GROWS_MIB, "forecast", "slots", "ping.log")


def test_a_thousand_cells_over_a_day(tmp_path: Path) -> None:
    rows = "".join(f"{n * 86},{n % 60000},{n % 500},-90,47,-122\n" for n in range(1000))
    (tmp_path / "x.csv").write_text("timestamp,freq,cid,rsrp,lat,lon\n" + rows)
    assert "1000 cells over" in sentence(GROWS_MIB, "radio", "capacity", "x.csv")


OPTIONS = [
    ("data", "synthesise", "alaska", "--out", "x.csv", "--duration-s", "1e12"),
    ("radio", "synthetic", "--duration", "99999999999"),
]


@pytest.mark.parametrize("words", OPTIONS)
def test_an_option_cannot_ask_for_the_machine(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert "at most" in sentence(GROWS_MIB, *words)
