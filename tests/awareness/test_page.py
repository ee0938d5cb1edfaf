"""Hints in shared memory: whole or not at all, in every language, and nothing else is a hint."""

from __future__ import annotations

import math
import os
import shutil
import stat
import struct
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skyweave.awareness
from skyweave.awareness.hint import Hint, Kind, hint_of
from skyweave.awareness.page import (
    BODY,
    HEAD,
    LENGTH,
    MAGIC,
    PageReader,
    PageWriter,
    decode,
    encode,
    valid,
)
from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile
from skyweave.model.forecast import Forecast, ForecastBoundary, ForecastSeries
from skyweave.model.windows import ForecastWindow

NOW = 10**12
HINT = Hint(
    issued_ns=NOW, valid_until_ns=NOW + 10**10, boundary_ns=NOW + 3 * 10**9,
    boundary_uncertainty_ns=3 * 10**8, boundary_probability=0.6, boundary_kind=Kind.SLOT,
    outage_start_ns=NOW + 10**9, outage_end_ns=NOW + 2 * 10**9, outage_probability=0.75,
    rtt_ms=(30.0, 40.0, 90.5), down_mbps=(math.nan,) * 3, up_mbps=(1.0, 2.0, 3.0),
)  # fmt: skip
GOLDEN = Path(__file__).parents[2] / "crates" / "awareness" / "src" / "tests" / "page.hex"
HEADER = Path(skyweave.awareness.__file__).parent / "skyweave_awareness.h"


def same(one: Hint | None, other: Hint | None) -> bool:
    """Compare hints; NaN is the same as NaN."""
    return repr(one) == repr(other)


def test_the_layout_is_that_of_the_golden_page(tmp_path):
    """The same bytes are read by the tests of ``crates/awareness``."""
    with PageWriter(tmp_path / "a.page") as writer:
        writer.write(HINT)
        written = writer.file.read_bytes()
    assert len(written) == 4096
    assert written[: HEAD.size + LENGTH].hex() == GOLDEN.read_text().strip()


def test_a_hint_comes_back_while_it_holds(tmp_path):
    reader = PageReader(tmp_path / "a.page")
    assert reader.read(NOW) is None  # absent
    with PageWriter(tmp_path / "a.page") as writer:
        assert reader.read(NOW) is None  # nothing is known yet
        writer.write(HINT)
        assert same(reader.read(NOW), HINT)
        assert same(reader.read(NOW + 10**10 - 1), HINT)
        assert reader.read(NOW + 10**10) is None  # stale
        assert reader.read(NOW - 1) is None  # of the future: another boot's clock
        writer.write(None)
        assert reader.read(NOW) is None
        assert stat.S_IMODE(writer.file.stat().st_mode) & 0o027 == 0
    assert not (tmp_path / "a.page").exists()


@given(st.data())
def test_a_page_with_other_bytes_is_no_hint_or_another_valid_one(data):
    content = bytearray(encode(HINT))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    assert decode(bytes(content)) is None


@pytest.mark.parametrize("size", [0, 7, 24, 100, 175, 4096])
def test_garbage_is_no_hint(tmp_path, size):
    file = tmp_path / "a.page"
    for content in (bytes(size), b"\xff" * size, os.urandom(size), MAGIC + bytes(size)):
        file.write_bytes(content)
        assert PageReader(file).read(NOW) is None


def test_a_writer_that_died_while_it_wrote_leaves_no_hint(tmp_path):
    with PageWriter(tmp_path / "a.page") as writer:
        writer.write(HINT)
        writer._stamp(writer._sequence + 1)
        assert PageReader(writer.file).read(NOW) is None


@pytest.mark.parametrize(
    "change",
    [
        {"valid_until_ns": NOW + 4 * 10**12}, {"boundary_probability": 1.5},
        {"outage_probability": math.nan}, {"boundary_uncertainty_ns": -1},
        {"outage_end_ns": NOW}, {"rtt_ms": (3.0, 2.0, 1.0)}, {"rtt_ms": (-1.0, 2.0, 3.0)},
        {"up_mbps": (1.0, 2.0, math.inf)}, {"down_mbps": (math.nan, 1.0, 2.0)},
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_are_not_heeded(change):
    wrong = Hint(**{**HINT.__dict__, **change})
    assert not valid(wrong, NOW)
    assert decode(encode(wrong)) is not None


def test_an_unknown_kind_is_no_hint():
    body = bytearray(encode(HINT)[: BODY.size])
    struct.pack_into("<I", body, 40, 9)
    from skyweave.awareness.page import checksum

    assert decode(bytes(body) + struct.pack("<Q", checksum(bytes(body)))) is None


def test_a_page_that_cannot_be_is_one_sentence(tmp_path):
    with pytest.raises(ConfigError, match="no page can be there"):
        PageWriter(tmp_path / "no" / "folder.page")


def test_the_hint_of_a_forecast():
    series = ForecastSeries(times_s=(0.0, 6.0), quantiles=(0.1, 0.5, 0.9),
                            values=((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))  # fmt: skip
    known = ForecastFile(
        source="s", method="m", start_unix_s=1000.0, end_unix_s=1060.0,
        forecast=Forecast(
            rtt_ms=series,
            boundaries=(
                ForecastBoundary(at_s=2.0),
                ForecastBoundary(at_s=12.0, uncertainty_s=0.3, kind="handover", probability=0.7),
            ),
            outages=(ForecastWindow(start_s=1.0, end_s=2.0),
                     ForecastWindow(start_s=20.0, end_s=21.0, probability=0.4)),
        ),
    )  # fmt: skip
    found = hint_of(known, 1003.0, NOW)
    assert found is not None
    assert valid(found, NOW)
    assert found.valid_until_ns == NOW + 57 * 10**9
    assert (found.boundary_ns, found.boundary_kind) == (NOW + 9 * 10**9, Kind.HANDOVER)
    assert (found.boundary_uncertainty_ns, found.boundary_probability) == (3 * 10**8, 0.7)
    assert (found.outage_start_ns, found.outage_end_ns) == (NOW + 17 * 10**9, NOW + 18 * 10**9)
    assert found.outage_probability == 0.4
    assert found.rtt_ms == (4.0, 5.0, 6.0)  # five seconds ahead
    assert math.isnan(found.up_mbps[0])
    assert hint_of(known, 999.0, NOW) is None
    assert hint_of(known, 1060.0, NOW) is None


READER = r"""
#include "skyweave_awareness.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Reads a given number of hints; each must be whole: all its numbers come from one. */
int main(int argc, char **argv)
{
    int file = open(argv[1], O_RDONLY);
    int64_t wanted = atoll(argv[2]), now = atoll(argv[3]), seen = 0, last = 0, changes = 0;
    const void *page = mmap(NULL, SKYAWARE_PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
    struct skyaware_hint hint;
    if (argc != 4 || file < 0 || page == MAP_FAILED)
        return 2;
    for (int64_t tries = 0; seen < wanted || changes < 20; tries++) {
        if (wanted == 0 && tries == 100)
            break;
        if (!skyaware_read(page, now, &hint))
            continue;
        seen++;
        int64_t number = hint.issued_ns;
        changes += number != last;
        last = number;
        for (int place = 0; place < 3; place++)
            if (hint.rtt_ms[place] != number || hint.down_mbps[place] != number
                || hint.up_mbps[place] != number)
                return 1;
        if (hint.outage_start_ns != number || hint.outage_end_ns != number)
            return 1;
    }
    printf("%lld\n", (long long)seen);
    return 0;
}
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory) -> Path:
    """A reader in C, compiled with all warnings as errors."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("c")
    (folder / "reader.c").write_text(READER)
    warnings = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    ran = subprocess.run(
        [compiler, *warnings, "-D_DEFAULT_SOURCE", "-I", str(HEADER.parent), "reader.c", "-o",
         "reader"], cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return folder / "reader"


def numbered(number: int) -> Hint:
    three = (float(number),) * 3
    return Hint(
        issued_ns=number, valid_until_ns=NOW, outage_start_ns=number, outage_end_ns=number,
        rtt_ms=three, down_mbps=three, up_mbps=three,
    )  # fmt: skip


@pytest.mark.waits
def test_a_reader_in_c_sees_whole_hints_while_they_are_written(reader, tmp_path):
    now = 10**9
    stop = threading.Event()
    with PageWriter(tmp_path / "a.page") as writer:

        def write() -> None:
            number = 1
            while not stop.is_set():
                writer.write(numbered(number))
                number += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            ran = subprocess.run(
                [str(reader), str(writer.file), "20000", str(now)], capture_output=True,
                text=True, check=False,
            )  # fmt: skip
        finally:
            stop.set()
            thread.join()
    assert ran.returncode == 0
    assert int(ran.stdout) >= 20_000


@pytest.mark.waits
def test_a_reader_in_c_sees_nothing_in_garbage(reader, tmp_path):
    for place, content in enumerate([bytes(4096), b"\xff" * 4096, os.urandom(4096)]):
        file = tmp_path / f"{place}.page"
        file.write_bytes(content)
        ran = subprocess.run([str(reader), str(file), "0", "5"], capture_output=True, check=False)
        assert ran.stdout == b"0\n"
