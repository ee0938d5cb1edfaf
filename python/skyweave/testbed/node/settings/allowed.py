"""What of the kernel a run may have set: a table, and how each is read and written.

The state of a setting is a line of text that reads back as it was written, so that restoring is
writing what was read before. Functions act on the network namespace that the thread is in.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from skyweave.model.base import Model
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.tools import tool

MOST_BUFFER_BYTES = 2**30
"""The largest buffer."""
_SIZE = r"[1-9]\d{0,9}"
_TRIPLE = rf"{_SIZE} {_SIZE} {_SIZE}"
_WORD = r"[a-z][a-z0-9_]{0,15}"
SYSCTLS = {
    r"net\.ipv4\.tcp_[rw]mem": _TRIPLE,
    r"net\.core\.[rw]mem_(?:max|default)": _SIZE,
    r"net\.ipv4\.tcp_congestion_control": _WORD,
    r"net\.ipv4\.tcp_no_metrics_save": "[01]",
    r"net\.ipv4\.conf\.[A-Za-z0-9][A-Za-z0-9_-]{0,14}\.forwarding": "[01]",
    r"net\.ipv6\.conf\.[A-Za-z0-9][A-Za-z0-9_-]{0,14}\.force_forwarding": "[01]",
}
"""Names, and what their values look like; no other parameter of the kernel is written."""
Device = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,14}$")]
_LONELY = ("linkdown", "dead", "onlink", "pervasive", "offload", "notify")
"""Words of a listed route that are no part of how it is written."""


class Setting(Model):
    """One setting; ``key`` says which, and no two leases have the same at a time."""

    key: ClassVar[property]

    @property
    @abstractmethod
    def wanted(self) -> str:
        """The state that is asked for."""

    @abstractmethod
    def read(self) -> str:
        """Return the present state; :class:`TestbedError` if there is nothing to read."""

    @abstractmethod
    def write(self, state: str) -> None:
        """Make a state the present one; :class:`TestbedError` if the kernel refuses."""


class Sysctl(Setting):
    """A parameter under ``/proc/sys``, one of :data:`SYSCTLS`."""

    kind: Literal["sysctl"] = "sysctl"
    name: str
    value: str

    @model_validator(mode="after")
    def _is_allowed(self) -> Self:
        values = [value for name, value in SYSCTLS.items() if re.fullmatch(name, self.name)]
        if not values:
            raise ValueError(f"'{self.name[:80]}' is not among the settings that may be changed")
        if re.fullmatch(values[0], self.value) is None:
            raise ValueError(f"'{self.value[:80]}' is no value of {self.name}")
        sizes = [int(one) for one in self.value.split() if one.isdigit()]
        if any(one > MOST_BUFFER_BYTES for one in sizes) or sizes != sorted(sizes):
            raise ValueError(f"'{self.value}' of {self.name}: sizes rise, to 1 GiB at most")
        return self

    @property
    def key(self) -> str:
        """Its name."""
        return self.name

    @property
    def wanted(self) -> str:
        """The value."""
        return self.value

    def read(self) -> str:
        """Return the value, its parts apart by one space."""
        try:
            return " ".join(self._file.read_text().split())
        except OSError as error:
            raise TestbedError(f"{self.name}: cannot be read here ({error.strerror})") from None

    def write(self, state: str) -> None:
        """Write a value."""
        try:
            self._file.write_text(state)
        except OSError as error:
            raise TestbedError(f"{self.name}: the kernel refused it ({error.strerror})") from None

    @property
    def _file(self) -> Path:
        return Path("/proc/sys", *self.name.split("."))


class RouteCongestion(Setting):
    """The congestion control of TCP connections over a route, locked against programs."""

    kind: Literal["route-congestion"] = "route-congestion"
    destination: Annotated[
        str, StringConstraints(pattern=r"^(?:default|\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?)$")
    ]
    device: Device
    algorithm: Annotated[str, StringConstraints(pattern=f"^{_WORD}$")]

    @property
    def key(self) -> str:
        """The route."""
        return f"route {self.destination} dev {self.device}"

    @property
    def wanted(self) -> str:
        """As routes are written."""
        return f"congctl lock {self.algorithm}"

    def read(self) -> str:
        """Return ``congctl lock NAME``, ``congctl NAME``, or nothing."""
        return " ".join(_congctl(self._route()))

    def write(self, state: str) -> None:
        """Change the route, and only this of it."""
        words = self._route()
        there = _congctl(words)
        at = words.index("congctl") if there else len(words)
        rest = [*words[:at], *words[at + len(there) :]]
        kept = [word for word in rest if word not in _LONELY]
        tool("ip", "route", "change", *kept, *state.split())

    def _route(self) -> list[str]:
        found = tool("ip", "route", "show", "exact", self.destination, "dev", self.device)
        lines = found.strip().splitlines()
        if len(lines) != 1:
            raise TestbedError(f"{self.key}: there are {len(lines)} such routes, not one")
        words = lines[0].split()
        return words if "dev" in words else [words[0], "dev", self.device, *words[1:]]


class Qdisc(Setting):
    """The queue of a device; only one that nobody has chosen is replaced."""

    kind: Literal["qdisc"] = "qdisc"
    device: Device
    discipline: Literal["fq", "fq_codel", "pfifo", "cake"]

    @field_validator("device")
    @classmethod
    def _is_no_loop(cls, value: str) -> str:
        if value == "lo":
            raise ValueError("the loopback keeps its queue")
        return value

    @property
    def key(self) -> str:
        """The device."""
        return f"qdisc {self.device}"

    @property
    def wanted(self) -> str:
        """Its name."""
        return self.discipline

    def read(self) -> str:
        """Return the queue's name; nothing for the kernel's own choice."""
        said = json.loads(tool("tc", "-j", "qdisc", "show", "dev", self.device) or "[]")
        for one in said:
            if one.get("root") and one.get("handle") != "0:":
                return str(one["kind"])
        return ""

    def write(self, state: str) -> None:
        """Put a queue there, or leave it to the kernel again."""
        before = self.read()
        if before not in ("", self.discipline):
            raise TestbedError(
                f"{self.key}: somebody has chosen '{before}', whose settings could not be restored"
            )
        if state:
            tool("tc", "qdisc", "replace", "dev", self.device, "root", state)
        elif before:
            tool("tc", "qdisc", "del", "dev", self.device, "root")


AnySetting = Annotated[Sysctl | RouteCongestion | Qdisc, Field(discriminator="kind")]


def _congctl(words: list[str]) -> list[str]:
    """Return what a route says of congestion control."""
    if "congctl" not in words:
        return []
    at = words.index("congctl")
    return words[at : at + (3 if words[at + 1] == "lock" else 2)]
