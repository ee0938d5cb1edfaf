"""The base of everything that a study file can hold, and its errors with file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from skyweave.errors import ConfigError, suggest
from skyweave.model.limits import WEEK_S
from skyweave.model.parsing import shown
from skyweave.model.toml_lines import line_of

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Span = Annotated[float, Field(gt=0, le=WEEK_S, allow_inf_nan=False)]
"""Seconds that a drive, a run or a piece of one lasts."""
Count = Annotated[int, Field(ge=1, le=10**12)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_\-]*$")]


class StudyModel(BaseModel):
    """A frozen model that answers an unknown key with the nearest known one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _know_all_keys(cls, value: Any) -> Any:
        if isinstance(value, dict):
            for key in value:
                if key not in cls.model_fields:
                    hint = suggest(str(key), cls.model_fields)
                    raise PydanticCustomError(
                        "unknown_key", "unknown key '{key}': {hint}", {"key": key, "hint": hint}
                    )
        return value


AnyModel = TypeVar("AnyModel", bound=StudyModel)


def complaint(key: str, message: str) -> PydanticCustomError:
    """Return an error about ``key`` of the model that is being validated."""
    safe = message.replace("{", "(").replace("}", ")")
    return PydanticCustomError("study", "{said}", {"said": safe, "key": key})


class Misplaced(ValueError):
    """A contradiction that a parent found, with the location of the key that caused it."""

    def __init__(self, message: str, *location: str | int) -> None:
        super().__init__(message)
        self.location = location


def validate(model: type[AnyModel], file: Path, text: str, content: dict[str, Any]) -> AnyModel:
    """Return ``content`` as ``model``; raise :class:`ConfigError` with file and line."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ConfigError(_sentence(file, text, content, error.errors()[0])) from error


def _sentence(file: Path, text: str, content: dict[str, Any], error: ErrorDetails) -> str:
    """Put one finding of pydantic into a sentence that starts with file and line."""
    context = error.get("ctx", {})
    location = getattr(context.get("error"), "location", tuple(error["loc"]))
    if "key" in context:
        location = (*location, context["key"])
    location = _without_tags(content, location)
    line = line_of(text, location)
    said = error["msg"].removeprefix("Value error, ")
    if error["type"] in ("unknown_key", "study", "value_error"):
        return f"{file}:{line}: {said}"
    where = ".".join(str(part) for part in location if not _is_type(str(part)))
    return (
        f"{file}:{line}: {where}: {said[:1].lower()}{said[1:]} (found {shown(error.get('input'))})"
    )


def _without_tags(content: Any, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return a location without the kinds of union members that pydantic puts between keys.

    >>> _without_tags({"criteria": [{"kind": "bound"}]}, ("criteria", 0, "bound", "limit"))
    ('criteria', 0, 'limit')
    """
    found: list[str | int] = []
    for number, part in enumerate(location):
        if isinstance(content, dict) and part not in content and number < len(location) - 1:
            continue
        found.append(part)
        if isinstance(content, dict):
            content = content.get(part)
        elif isinstance(content, list) and isinstance(part, int) and part < len(content):
            content = content[part]
        else:
            content = None
    return tuple(found)


def _is_type(part: str) -> bool:
    """Tell whether pydantic put the name of a union member into a location."""
    return "[" in part or part in ("str", "float", "int", "list", "Literal", "bool")
