"""``skyweave video play``, as people type it; over real sockets: ``tests/live/test_video.py``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skyweave.cli.video import video_app
from skyweave.cli.video_progress import last, playing, words
from skyweave.console import Console
from skyweave.errors import ConfigError, DataError, SkyweaveError
from skyweave.model.record import Record

BOTH = ("--path", "a=down=3,up=3,rtt=40", "--path", "b=down=3,up=3,rtt=60")
PICTURES, PICTURE_BYTES = 100, 25_000
"""Four seconds of 5 Mbit/s, which one of the paths alone does not carry."""


@pytest.fixture
def film(tmp_path: Path) -> str:
    lines = (f"0,{n / 25},{n / 25},{PICTURE_BYTES},{n * PICTURE_BYTES}" for n in range(PICTURES))
    file = tmp_path / "short.csv"
    file.write_text("\n".join(lines))
    return str(file)


def play(*words: str) -> str:
    result = CliRunner().invoke(video_app, ["play", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def shown(out: str, name: str) -> str:
    return re.search(rf"^ {name} +(.*?) *$", out, re.MULTILINE).group(1)  # type: ignore[union-attr]


@pytest.mark.parametrize("transport", ["mptcp", "mpquic"])
def test_two_paths_carry_what_one_does_not(film: str, transport: str) -> None:
    both = play(*BOTH, "--film", film, "--transport", transport)
    assert shown(both, "underflows") == "0"
    assert shown(both, "played") == "0:04 of 0:04"
    alone = play(*BOTH[:2], "--film", film, "--transport", transport)
    assert int(shown(alone, "underflows")) > 0
    assert float(shown(alone, "stalls, together").split()[0]) > 0.5
    megabytes = [float(shown(both, name).split()[0]) for name in "ab"]
    assert min(megabytes) > 0.5
    # The picture that needs the last byte need not be delivered twice.
    assert sum(megabytes) == pytest.approx(PICTURES * PICTURE_BYTES / 1e6, abs=0.2)


def test_the_player_that_waits_drops_nothing(film: str) -> None:
    slow = ("--path", "a=down=3,up=3,rtt=40", "--film", film)
    assert int(shown(play(*slow), "discarded pictures")) > 0
    waits = play(*slow, "--player", "wait")
    assert shown(waits, "discarded pictures") == "0"
    assert int(shown(waits, "underflows")) > 0


def test_an_adaptive_player_says_its_quality() -> None:
    out = play(*BOTH, "--player", "adaptive", "--top", "3")
    assert shown(out, "underflows") == "0"
    assert shown(out, "mean quality").endswith("Mbit/s")
    assert 0.4 < float(shown(out, "mean quality").split()[0]) <= 3
    assert float(shown(out, "came at").split()[0]) < 6


def test_a_film_that_does_not_begin_in_time_is_said_so(film: str) -> None:
    out = play(*BOTH, "--film", film, "--seconds", "0.1")
    assert shown(out, "startup") == "it never began"


def test_figure_and_record_are_kept(film: str, tmp_path: Path) -> None:
    figure, folder = tmp_path / "seen.png", tmp_path / "record"
    play(*BOTH, "--film", film, "--figure", str(figure), "--record", str(folder))
    assert figure.read_bytes().startswith(b"\x89PNG")
    record = Record.read(folder)
    assert record.provenance["run"]["connections"][0]["congestion"] == "cubic-linux"
    assert record.application["video"]["event"].to_list().count("playing") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--path", "a=b"), "neither a preset nor a file"),
        (("--path", "a"), "must be NAME=PROFILE"),
        ((*BOTH[:2], *BOTH[:2]), "two paths are called 'a'"),
        ((*BOTH, "--transport", "tcp"), "uses one path, and there are 2"),
        ((*BOTH, "--congestion", "cubik"), "did you mean 'cubic'"),
        ((*BOTH, "--film", "none"), "none of cbr, vbr, nor a frame table"),
        ((*BOTH, "--film", "no.csv"), "cannot be read"),
        ((*BOTH, "--seconds", "0"), "must be more than 0"),
        ((*BOTH, "--seconds", "nan"), "must be more than 0"),
        ((*BOTH, "--figure", "seen.pdf"), "figures are PNG"),
        ((*BOTH, "--record", "/"), "is there already"),
        ((*BOTH, "--player", "vlc", "--engine", "sim"), "plays in real time"),
        ((*BOTH, "--player", "vlc", "--film", "a.csv"), "plays cbr or vbr alone"),
        ((*BOTH, "--player", "adaptive", "--film", "vbr"), "take --top alone"),
        ((*BOTH, "--player", "adaptive", "--top", "nan"), "the top of a ladder"),
    ],
)
def test_what_cannot_be_is_one_sentence(words: tuple[str, ...], said: str) -> None:
    with pytest.raises((ConfigError, DataError), match=re.escape(said)) as caught:
        play(*words)
    assert isinstance(caught.value, SkyweaveError)
    assert "\n" not in str(caught.value)


def test_progress_shows_what_the_player_wrote_last(tmp_path: Path) -> None:
    line = '{"monotonic_ns": 1, "position_s": %d, "film_s": 180.0, "underflows": 1}\n'
    (tmp_path / "playback.jsonl").write_text(line % 5 + line % 65 + '{"monoton')
    assert words(last(tmp_path)) == "1:05 of 3:00, underflows: 1"
    assert words(last(tmp_path / "nowhere")) == "starting"
    with (tmp_path / "said").open("w") as file, playing(Console(file=file), tmp_path, 240):
        pass
    assert (tmp_path / "said").read_text() == "Playing in real time, 4:00 at most.\n"
