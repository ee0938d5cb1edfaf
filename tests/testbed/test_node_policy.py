"""The owner's file wins: who, what, when, how much."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyweave.errors import ConfigError
from skyweave.testbed.node.policy import (
    KINDS,
    Asked,
    Policy,
    Taken,
    day_of,
    read_policy,
    refusal,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp()
OPEN = Policy(owner="anna", users=("*",), kinds=(*KINDS, "command"), commands=("carl",))


def asked(**changes: object) -> Asked:
    plain = {
        "user": "ben", "kind": "tcp", "start_unix_s": NOON, "seconds": 60.0,
        "network_bytes": 10**6,
    }  # fmt: skip
    return Asked(**(plain | changes))  # type: ignore[arg-type]


def test_what_is_not_written_is_for_the_owner_alone() -> None:
    closed = Policy(owner="anna")
    assert "not allowed runs of 'ben'" in (refusal(closed, asked(), Taken()) or "")
    for kind in (*KINDS, "command"):
        mine = asked(user="anna", kind=kind, brings_python=True, is_command=kind == "command")
        assert refusal(closed, mine, Taken()) is None


@pytest.mark.parametrize(
    ("changes", "taken", "words"),
    [
        ({"brings_python": True}, Taken(), "Python code of 'ben'"),
        ({"kind": "command", "is_command": True}, Taken(), "programs that 'ben' brings"),
        ({"kind": "tcp", "is_command": True}, Taken(), "programs that 'ben' brings"),
        ({"seconds": 3601.0}, Taken(), "lasts 3601 s"),
        ({"network_bytes": 3 * 10**9}, Taken(), "2,000,000,000 are allowed"),
        ({}, Taken(bytes_today=5 * 10**9 - 1), "1 of this day are left"),
        ({}, Taken(bytes_today=6 * 10**9), "0 of this day are left"),
        ({}, Taken(at_once=1), "1 other runs"),
    ],
)
def test_what_is_refused_and_why(changes: dict[str, object], taken: Taken, words: str) -> None:
    assert refusal(OPEN, asked(), Taken()) is None
    assert words in (refusal(OPEN, asked(**changes), taken) or "")


def test_a_program_needs_both_its_kind_and_its_user() -> None:
    carl = asked(user="carl", kind="command", is_command=True)
    assert refusal(OPEN, carl, Taken()) is None
    without = OPEN.model_copy(update={"kinds": KINDS})
    assert refusal(without, carl, Taken()) is not None


def test_python_is_allowed_to_those_who_are_named() -> None:
    some = OPEN.model_copy(update={"python": ("ben",)})
    assert refusal(some, asked(brings_python=True), Taken()) is None
    assert refusal(some, asked(user="carl", brings_python=True), Taken()) is not None


@given(
    begin=st.integers(0, 1439), end=st.integers(0, 1439), start=st.integers(0, 2 * 1440),
    minutes=st.integers(1, 59),
)  # fmt: skip
def test_hours_hold_from_the_first_minute_to_the_last(
    begin: int, end: int, start: int, minutes: int
) -> None:
    """Against counting: each minute of the run lies in the hours, as a clock on the wall shows."""
    span = f"{begin // 60:02}:{begin % 60:02}-{end // 60:02}:{end % 60:02}"
    policy = OPEN.model_copy(update={"hours": (span,)})
    at = datetime(2026, 5, 1, tzinfo=UTC) + timedelta(minutes=start)
    clock = [(start + one) % 1440 for one in range(minutes)]
    inside = all(begin <= one < end if begin < end else one >= begin or one < end for one in clock)
    one = asked(start_unix_s=at.timestamp(), seconds=60.0 * minutes)
    assert (refusal(policy, one, Taken()) is None) == inside


def test_hours_are_the_owners_and_follow_summer_time() -> None:
    policy = OPEN.model_copy(update={"hours": ("01:30-03:30",), "time_zone": "Europe/Vienna"})
    # 2026-03-29: 02:00 becomes 03:00, so that 01:30-03:30 lasts one hour, from 00:30 UTC
    edge = datetime(2026, 3, 29, 0, 30, tzinfo=UTC).timestamp()
    assert refusal(policy, asked(start_unix_s=edge, seconds=3600.0), Taken()) is None
    late = asked(start_unix_s=edge + 60, seconds=3600.0)
    assert "it would run at 03:30" in (refusal(policy, late, Taken()) or "")
    begin, end = day_of(policy, edge)
    assert end - begin == 23 * 3600


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('owner = "*"', "name them"),
        ('owner = "anna"\nhours = ["22-6"]', ":2: '22-6' are no hours"),
        ('owner = "anna"\nhours = ["22:00-24:30"]', "are no hours"),
        ('owner = "anna"\ntime_zone = "../../etc/passwd"', "no time zone"),
        ('owner = "anna"\nreach = ["192.168.1.1/24"]', "is no network"),
        ('owner = "anna"\nreach = ["fd00::1/64"]', "is no network"),
        ('owner = "anna"\nresolver = "dns.example"', "is no address"),
        ('owner = "anna"\nresolver = "127.0.0.53"', "not reached from a sandbox"),
        ('owner = "anna"\nresolver = "fe80::1"', "not reached from a sandbox"),
        ('owner = "anna"\nresolver = "::"', "not reached from a sandbox"),
        ('owner = "anna"\nresolver = "9.9.9.9\\nnameserver 10.0.0.1"', "is no address"),
        ('owner = "anna"\nipv6 = "yes"', "ipv6"),
        ('owner = "anna"\nuplinks = { lte = "a b" }', "uplinks"),
        ('owner = "anna"\nuser = ["ben"]', "unknown key 'user'"),
        ('owner = "anna; rm"', "owner"),
        ("users = []", "owner"),
    ],
)
def test_a_wrong_file_is_one_sentence_with_its_line(tmp_path: Path, line: str, words: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(line)
    with pytest.raises(ConfigError, match=words.replace("[", r"\[")) as caught:
        read_policy(file)
    assert str(caught.value).startswith(f"{file}:")


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(
        'owner = "anna"\nusers = ["ben"]\nkinds = ["probe"]\nhours = ["22:00-06:00"]\n'
        'time_zone = "Europe/Vienna"\nbytes_a_day = 1_000_000\n[uplinks]\nstarlink = "eth1"\n'
        "[most]\nseconds = 30.0\n"
    )
    policy = read_policy(file)
    assert policy.uplinks == {"starlink": "eth1"}
    assert policy.words == (
        "probe for anna, ben; 22:00-06:00 Europe/Vienna; 1,000,000 bytes a day; 1 at once"
    )
