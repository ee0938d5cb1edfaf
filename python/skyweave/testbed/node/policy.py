"""The owner's policy file: what may run on a node, whoever the orchestrator says is asking.

The policy is read on the node and enforced there; the orchestrator learns it only to tell people.
Nothing here reads a clock: moments are Unix seconds, and a day begins at midnight in the owner's
time zone.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, StringConstraints, field_validator

from skyweave.model.parsing import read_toml
from skyweave.model.validated import Name, StudyModel, validate

MINUTE_S = 60.0
DAY_MINUTES = 24 * 60
_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|(24):(00))")

User = Annotated[str, StringConstraints(pattern=r"^(?:\*|[a-z0-9][a-z0-9-]{0,38})$")]
"""A name of the testbed; ``*`` is everybody."""
Device = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$")]
Experiment = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{24}$")]
File = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
UplinkName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,11}$")]
Kind = Literal["probe", "tcp", "mptcp", "mpquic", "video", "command"]
KINDS: tuple[Kind, ...] = ("probe", "tcp", "mptcp", "mpquic", "video")
"""What may run unless the file says otherwise: all kinds but programs of the user's own."""


class Most(StudyModel):
    """What a run may use at most, whatever its specification asks for."""

    memory_bytes: Annotated[int, Field(ge=2**24, le=2**36)] = 2**30
    processes: Annotated[int, Field(ge=1, le=4096)] = 256
    cpu_share: Annotated[float, Field(gt=0, le=64)] = 1.0
    """Cores."""
    network_bytes: Annotated[int, Field(ge=0, le=2**53)] = 2 * 10**9
    artefact_bytes: Annotated[int, Field(ge=0, le=10**11)] = 2 * 10**8
    seconds: Annotated[float, Field(gt=0, le=86_400)] = 3600.0


class Policy(StudyModel):
    """The file; what it does not say is forbidden to all but the owner."""

    owner: User
    """Whose runs may be of all kinds, with Python code; hours and bytes hold for them, too."""
    users: Annotated[tuple[User, ...], Field(max_length=1000)] = ()
    kinds: Annotated[tuple[Kind, ...], Field(max_length=6)] = KINDS
    python: Annotated[tuple[User, ...], Field(max_length=1000)] = ()
    """Who besides the owner may bring Python code in a study; it runs in the sandbox only."""
    commands: Annotated[tuple[User, ...], Field(max_length=1000)] = ()
    """Who besides the owner may bring programs; ``command`` must be among the kinds, too."""
    hours: Annotated[tuple[str, ...], Field(max_length=24)] = ("00:00-24:00",)
    """When runs may take place, from their first second to their last; ``22:00-06:00`` is one."""
    time_zone: str = "UTC"
    bytes_a_day: Annotated[int, Field(ge=0, le=2**53)] = 5 * 10**9
    runs_at_once: Annotated[int, Field(ge=1, le=16)] = 1
    most: Most = Most()
    uplinks: Annotated[dict[UplinkName, Device], Field(max_length=8)] = Field(default_factory=dict)
    """Networks by their names in experiments, and the device of each; empty: the default route."""
    yield_to: Literal["uplink", "dish", "nobody"] = "uplink"
    """What background runs give way to: all other traffic of the uplinks' devices, all other of a
    dish, for machines that see only their own; or nothing."""
    dish: Annotated[str, Field(max_length=100)] = "192.168.100.1:9200"
    fires: Annotated[dict[Name, Experiment], Field(max_length=100)] = Field(default_factory=dict)
    """Which trigger of ``triggers.toml`` beside this file starts which experiment."""
    hints: Annotated[dict[Name, File], Field(max_length=16)] = Field(default_factory=dict)
    """Series of ``triggers.toml``, and the predictor beside this file that foresees each; then all
    that is measured, fired and foreseen is published in ``hints.sock`` there."""
    reach: Annotated[tuple[str, ...], Field(max_length=64)] = ()
    """Networks that runs may reach although they are not public, such as a server in a lab."""
    tells: Annotated[tuple[Literal["dish", "radio"], ...], Field(max_length=2)] = ()
    """What heartbeats tell of the links: figures of the dish, of a modem (ModemManager's)."""
    ipv6: Annotated[bool, Field(strict=True)] = False
    """Whether runs have IPv6, where the uplink has it; see docs/nodes.md."""
    resolver: Annotated[str, StringConstraints(max_length=45)] | None = None
    """Address of who answers runs for names; without one they have addresses alone."""

    @field_validator("owner")
    @classmethod
    def _is_somebody(cls, value: str) -> str:
        if value == "*":
            raise ValueError("the owner is one person; name them")
        return value

    @field_validator("hours")
    @classmethod
    def _are_hours(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            _span(one)
        return value

    @field_validator("time_zone")
    @classmethod
    def _is_known(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, OSError, KeyError):
            raise ValueError(
                f"no time zone is called '{value[:60]}'; write one such as Europe/Vienna"
            ) from None
        return value

    @field_validator("reach")
    @classmethod
    def _are_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            try:
                ipaddress.ip_network(one)
            except ValueError as error:
                raise ValueError(
                    f"'{one[:60]}' is no network ({error}); write one such as 192.0.2.0/24"
                ) from None
        return value

    @field_validator("resolver")
    @classmethod
    def _is_elsewhere(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            found = ipaddress.ip_address(value)
        except ValueError:
            raise ValueError(f"'{value}' is no address; write one such as 9.9.9.9") from None
        if found.is_loopback or found.is_link_local or found.is_multicast or found.is_unspecified:
            raise ValueError(
                f"{value} is not reached from a sandbox; name your router's, or a public one"
            )
        return str(found)

    @property
    def words(self) -> str:
        """The policy in a sentence, for researchers."""
        who = "everybody" if "*" in self.users else ", ".join((self.owner, *self.users))
        return (
            f"{', '.join(self.kinds)} for {who}; {', '.join(self.hours)} {self.time_zone}; "
            f"{self.bytes_a_day:,} bytes a day; {self.runs_at_once} at once"
        )[:4000]


@dataclass(frozen=True)
class Asked:
    """What somebody wants to run."""

    user: str
    kind: Kind
    start_unix_s: float
    seconds: float
    network_bytes: int
    brings_python: bool = False
    """Whether its study names Python code, as found on the node and not as said."""
    is_command: bool = False


@dataclass(frozen=True)
class Taken:
    """What the node has promised or used already."""

    bytes_today: int = 0
    """Of the day on which the run begins: those of runs that are over, limits of the others."""
    at_once: int = 0
    """Other runs that would be under way at some moment of it."""


def read_policy(file: Path) -> Policy:
    """Read and check a policy; :class:`skyweave.ConfigError` names file and line."""
    text, content = read_toml(file)
    return validate(Policy, file, text, content)


def refusal(policy: Policy, asked: Asked, taken: Taken) -> str | None:
    """Return why a run is not allowed, in a sentence; ``None``: it is."""
    return _person(policy, asked) or _amount(policy, asked, taken) or _time(policy, asked)


def _person(policy: Policy, asked: Asked) -> str | None:
    owner = policy.owner
    if asked.user == owner:
        return None
    if not _among(asked.user, policy.users):
        return f"the owner of this node has not allowed runs of '{asked.user}'"
    if asked.kind not in policy.kinds:
        return f"the owner of this node does not allow runs of kind '{asked.kind}'"
    if asked.is_command and not ("command" in policy.kinds and _among(asked.user, policy.commands)):
        return f"the owner of this node does not allow programs that '{asked.user}' brings"
    if asked.brings_python and not _among(asked.user, policy.python):
        return f"the owner of this node does not allow Python code of '{asked.user}' in studies"
    return None


def _amount(policy: Policy, asked: Asked, taken: Taken) -> str | None:
    if asked.seconds > policy.most.seconds:
        return f"the run lasts {asked.seconds:g} s, and {policy.most.seconds:g} are allowed here"
    if asked.network_bytes > policy.most.network_bytes:
        return (
            f"the run asks for {asked.network_bytes:,} bytes of traffic, and "
            f"{policy.most.network_bytes:,} are allowed here"
        )
    left = policy.bytes_a_day - taken.bytes_today
    if asked.network_bytes > left:
        return (
            f"the run asks for {asked.network_bytes:,} bytes of traffic, and {max(left, 0):,} of "
            "this day are left"
        )
    if taken.at_once >= policy.runs_at_once:
        return f"{taken.at_once} other runs have that time, and {policy.runs_at_once} are allowed"
    return None


def _time(policy: Policy, asked: Asked) -> str | None:
    moment, end = asked.start_unix_s, asked.start_unix_s + asked.seconds
    while moment < end:
        until = _open_until(policy, moment)
        if until is None:
            when = f"{datetime.fromtimestamp(moment, ZoneInfo(policy.time_zone)):%H:%M}"
            hours = ", ".join(policy.hours)
            return f"it would run at {when}, outside of {hours} ({policy.time_zone})"
        moment = until
    return None


def _open_until(policy: Policy, moment: float) -> float | None:
    """Return when the hours that a moment lies in are over; ``None`` if it lies in none.

    It goes by the minute, so hours that the clocks skip or repeat are what a wall clock shows.
    """
    local = datetime.fromtimestamp(moment, ZoneInfo(policy.time_zone))
    minute = 60 * local.hour + local.minute
    for begin, end in map(_span, policy.hours):
        if begin <= minute < end or (end <= begin and (minute >= begin or minute < end)):
            return (moment // MINUTE_S + 1) * MINUTE_S
    return None


def day_of(policy: Policy, moment: float) -> tuple[float, float]:
    """Return when the owner's day around a moment begins and ends, in Unix seconds."""
    zone = ZoneInfo(policy.time_zone)
    begin = datetime.fromtimestamp(moment, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    return begin.timestamp(), (begin + timedelta(days=1)).timestamp()


def _among(user: str, users: tuple[str, ...]) -> bool:
    return user in users or "*" in users


def _span(text: str) -> tuple[int, int]:
    """Return the minutes of a day at which hours begin and end."""
    found = _HOURS.fullmatch(text)
    if found is None:
        raise ValueError(f"'{text[:40]}' are no hours; write them such as 22:00-06:00")
    begin_h, begin_m, end_h, end_m = (int(part) for part in found.groups() if part is not None)
    return 60 * begin_h + begin_m, 60 * end_h + end_m
