"""Settings on lease: journalled before they are made, restored when the lease is over or lost.

A file for each lease holds what was before and what was wanted. It is on the disk before the
kernel is touched and goes when all is as before, so whatever kills the node, what the files say
can be undone: :meth:`Leases.replay` does it at the start.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from skyweave.model.base import Model
from skyweave.model.files import read_regular, sync_folder, write_whole
from skyweave.testbed.errors import ConflictError, TestbedError
from skyweave.testbed.node.settings.allowed import AnySetting, Setting
from skyweave.testbed.node.tools import within

MOST_JOURNAL_BYTES = 100_000
BOOT = Path("/proc/sys/kernel/random/boot_id")
_TURN = threading.RLock()
"""Runs begin and end in threads of their own: none reads a journal that another one removes."""
_LEASE = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")


class Entry(Model):
    """One setting, and what it was."""

    setting: AnySetting
    before: str


class Journal(Model):
    """What one lease has changed, or was about to."""

    boot: str
    network: str | None
    """The file of the network namespace; None for that of the machine."""
    network_id: int | None
    """Its inode: another namespace of that name is not touched."""
    entries: Annotated[tuple[Entry, ...], Field(max_length=64)]


class Leases:
    """The leases of a node, in a folder of its own; for one process at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def apply(self, lease: str, settings: Sequence[Setting], network: Path | None = None) -> None:
        """Make settings for a lease, all or none.

        Raises :class:`ConflictError` if another lease has one of them, and :class:`TestbedError`
        if the kernel refuses; then all is as before.
        """
        with _TURN:
            self._apply(lease, settings, network)

    def restore(self, lease: str) -> list[str]:
        """End a lease; return a sentence for each setting that could not be put back.

        One that is neither as before nor as wanted was changed by somebody else, and stays.
        """
        file = self._file(lease)
        with _TURN:
            if not file.exists():
                return []
            said = _undo(_read(file))
            file.unlink()
            sync_folder(self._folder)
            return said

    def replay(self) -> list[str]:
        """End all leases that a dead process left; see :meth:`restore`."""
        for draft in self._folder.glob(".*"):
            draft.unlink(missing_ok=True)
        return [one for file in self._files() for one in self.restore(file.stem)]

    def held(self) -> list[str]:
        """Return the leases that there are."""
        return [file.stem for file in self._files()]

    def _apply(self, lease: str, settings: Sequence[Setting], network: Path | None) -> None:
        file = self._file(lease)
        identity = _identity(network)
        if file.exists():
            raise ConflictError(f"lease '{lease}' has settings already; restore them first")
        taken = {key for other in self._files() for key in _keys(_read(other))}
        for one in settings:
            if (identity, one.key) in taken:
                raise ConflictError(f"{one.key} is set for another run at this time")
        before = within(network, lambda: [one.read() for one in settings])
        entries = [
            Entry.model_validate({"setting": one.model_dump(), "before": was})
            for one, was in zip(settings, before, strict=True)
        ]
        journal = Journal(
            boot=BOOT.read_text().strip(), network=None if network is None else str(network),
            network_id=identity, entries=tuple(entries),
        )  # fmt: skip
        write_whole(file, journal.model_dump_json())
        try:
            within(network, lambda: _make(entries))
        except TestbedError:
            self.restore(lease)
            raise

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("[a-z0-9]*.json"))

    def _file(self, lease: str) -> Path:
        if _LEASE.fullmatch(lease) is None:
            raise TestbedError(f"'{lease[:80]}' is no name of a lease")
        return self._folder / f"{lease}.json"


def _make(entries: Sequence[Entry]) -> None:
    """Write what is wanted, and see that it is there: the kernel clamps some parameters."""
    for one in entries:
        if one.before == one.setting.wanted:
            continue
        one.setting.write(one.setting.wanted)
        if (made := one.setting.read()) != one.setting.wanted:
            one.setting.write(one.before)
            raise TestbedError(f"{one.setting.key}: the kernel made '{made}' of it")


def _undo(journal: Journal) -> list[str]:
    if journal.boot != BOOT.read_text().strip():
        return []  # the machine has started anew, and with it all settings
    network = None if journal.network is None else Path(journal.network)
    try:
        if _identity(network) != journal.network_id:
            return []
        return within(network, lambda: _back(journal.entries))
    except FileNotFoundError:
        return []  # the settings went with their namespace


def _back(entries: Sequence[Entry]) -> list[str]:
    said = []
    for one in reversed(entries):
        setting, before = one.setting, one.before
        try:
            now = setting.read()
            if now == setting.wanted != before:
                setting.write(before)
            elif now != before:
                said.append(f"{setting.key} is '{now}', which no run made of it; it stays so")
        except TestbedError as error:
            said.append(f"{setting.key} could not be put back to '{before}': {error}")
    return said


def _identity(network: Path | None) -> int | None:
    return None if network is None else network.stat().st_ino


def _keys(journal: Journal) -> list[tuple[int | None, str]]:
    return [(journal.network_id, one.setting.key) for one in journal.entries]


def _read(file: Path) -> Journal:
    try:
        return Journal.model_validate_json(read_regular(file, MOST_JOURNAL_BYTES))
    except (OSError, ValidationError) as error:
        why = getattr(error, "strerror", None) or "it is damaged"
        raise TestbedError(
            f"{file}: cannot be read ({why}); look at the settings by hand, then remove it"
        ) from None
