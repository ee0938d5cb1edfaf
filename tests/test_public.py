"""What is public can be used: every type that a public signature names has a public place."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterator
from typing import Any

from matplotlib.figure import Figure

import skyweave

NOT_IMPORTED = {"Figure": Figure}
"""What a module names and does not import: matplotlib would be loaded with each run."""


def packages() -> list[str]:
    found = [
        info.name for info in pkgutil.walk_packages(skyweave.__path__, "skyweave.") if info.ispkg
    ]
    return ["skyweave", *found]


def public() -> dict[str, Any]:
    """Return each public name with its place, and what it is."""
    return {
        f"{package}.{name}": getattr(importlib.import_module(package), name)
        for package in packages()
        for name in importlib.import_module(package).__all__
    }


def classes(hint: Any) -> Iterator[type]:
    """Yield the classes of this package that a type mentions."""
    if isinstance(hint, type) and hint.__module__.startswith("skyweave"):
        yield hint
    for part in typing.get_args(hint):
        for one in part if isinstance(part, list) else [part]:
            yield from classes(one)


def signatures(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the annotations of a function, or of the fields and public methods of a class."""
    if inspect.isclass(value):
        yield "", typing.get_type_hints(value, include_extras=True)
        for name, member in inspect.getmembers(value):
            method = getattr(member, "fget", None) or getattr(member, "func", None) or member
            own = getattr(method, "__module__", None) or ""
            annotated = inspect.isroutine(method) and getattr(method, "__annotations__", None)
            if annotated and not name.startswith("_") and own.startswith("skyweave"):
                hints = typing.get_type_hints(method, localns=NOT_IMPORTED, include_extras=True)
                yield f".{name}", hints
    elif inspect.isfunction(value):
        yield "()", typing.get_type_hints(value, include_extras=True)


def test_every_package_says_what_is_public() -> None:
    silent = [one for one in packages() if not hasattr(importlib.import_module(one), "__all__")]
    assert silent == []


def test_each_type_in_a_public_signature_has_a_public_place() -> None:
    known = public()
    places = {id(value) for value in known.values()}
    hidden = {
        f"{name}{where}: {one.__module__}.{one.__qualname__}"
        for name, value in known.items()
        for where, hints in signatures(value)
        for hint in hints.values()
        for one in classes(hint)
        if id(one) not in places
    }
    assert sorted(hidden) == []


def test_what_a_run_is_made_of_is_at_the_top() -> None:
    """Fields of a run, recursively: who writes one needs nothing but ``import skyweave as sw``."""
    waiting, seen = [skyweave.Run], set()
    while waiting:
        model = waiting.pop()
        seen.add(model)
        for field in model.model_fields.values():
            waiting += [one for one in classes(field.annotation) if one not in seen]
    assert {one.__name__ for one in seen} <= set(skyweave.__all__)
    assert {"Quic", "ForecastWindow"} <= set(skyweave.__all__)
