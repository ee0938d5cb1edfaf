"""A file of triggers (TOML)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from skyweave.errors import ConfigError
from skyweave.model.textfile import read_text
from skyweave.model.validated import Name, StudyModel, complaint, validate
from skyweave.triggers.language import Condition, Kind
from skyweave.triggers.sources import AnySource

Seconds = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1, max_length=2000)]
SourceName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
_ALIGN = re.compile(r"slot\+(\d{1,2}(?:\.\d{1,3})?)s")


class Limit(StudyModel):
    """How much a trigger may start in a day (UTC)."""

    runs_per_day: Annotated[int, Field(ge=1, le=100_000)] = 100
    bytes_per_day: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1e10


class Run(StudyModel):
    """What a firing starts: a program with its arguments, never a shell, or a study."""

    command: Annotated[tuple[Text, ...], Field(min_length=1, max_length=100)] | None = None
    study: Text | None = None
    """A study file or its folder, for ``skyweave run``; relative to the trigger file."""
    seconds: Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)] = 60.0
    """After this it is ended; until then no other run of the trigger begins."""
    bytes: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """What it will carry, for ``bytes_per_day``."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if (self.command is None) == (self.study is None):
            raise complaint("command", "a run is either a command or a study; give one of them")
        if any("\0" in one for one in (*(self.command or ()), self.study or "")):
            raise complaint("command", "an argument has a NUL character; remove it")
        return self

    @property
    def words(self) -> str:
        """What is started, for people."""
        return f"study {self.study}" if self.command is None else " ".join(self.command)


class Trigger(StudyModel):
    """When something is started, and what."""

    name: Name
    when: Text
    for_s: Seconds = 0.0
    """How long ``when`` must hold."""
    rearm: Text | None = None
    """What must hold before it may fire again; else that ``when`` does not."""
    cooldown_s: Seconds = 0.0
    align: str | None = None
    """``"slot+2s"``: start 2 s after the next slot edge."""
    limit: Limit = Limit()
    run: Run | None = None

    @field_validator("align")
    @classmethod
    def _is_slot(cls, value: str | None) -> str | None:
        found = _ALIGN.fullmatch(value) if value is not None else None
        if value is not None and (found is None or float(found[1]) >= 15):
            raise ValueError(f"align = '{value[:40]}'; write slot+2s, below slot+15s")
        return value

    @property
    def align_s(self) -> float | None:
        """Seconds after a slot edge; None to start at once."""
        found = _ALIGN.fullmatch(self.align or "")
        return float(found[1]) if found else None


class TriggerFile(StudyModel):
    """Triggers, and the series that their expressions may name."""

    series: dict[Name, Kind] = Field(default_factory=dict)
    """What comes from outside; the series of sources are added: see :attr:`known`."""
    source: Annotated[dict[SourceName, AnySource], Field(max_length=16)] = Field(
        default_factory=dict
    )
    trigger: Annotated[tuple[Trigger, ...], Field(min_length=1, max_length=100)]

    @property
    def known(self) -> dict[str, Kind]:
        """All series and their kinds; that of a source is called ``<source>_<series>``."""
        found = dict(self.series)
        for name, source in self.source.items():
            found |= {f"{name}_{one}": offer.kind for one, offer in source.offers.items()}
        return found


def read_triggers(file: Path) -> TriggerFile:
    """Read and check a file; :class:`ConfigError` names file, line, and where it fails."""
    text = read_text(file).body
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{file}: is no TOML ({str(error)[:200]})") from None
    found = _beside(file, validate(TriggerFile, file, text, content))
    names = [one.name for one in found.trigger]
    for one in found.trigger:
        if names.count(one.name) > 1:
            raise ConfigError(f"{file}: two triggers are called '{one.name}'; rename one")
        for key in ("when", "rearm"):
            expression = getattr(one, key)
            if expression is not None:
                try:
                    Condition(expression, found.known)
                except ConfigError as error:
                    raise ConfigError(f"{file}: {key} of '{one.name}': {error}") from None
    return found


def _beside(file: Path, found: TriggerFile) -> TriggerFile:
    """Make the studies' places those seen from the trigger file."""
    triggers = []
    for one in found.trigger:
        if one.run is not None and one.run.study is not None:
            place = str((file.parent / one.run.study).absolute())
            one = one.model_copy(update={"run": one.run.model_copy(update={"study": place})})
        triggers.append(one)
    return found.model_copy(update={"trigger": tuple(triggers)})
