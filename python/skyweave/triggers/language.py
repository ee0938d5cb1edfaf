"""Conditions in CEL (the Common Expression Language of cel.dev), checked before anything runs.

All that speaks to the library is here. A condition sees each series as a variable and asks
functions of its past; it cannot loop, call out or change anything. Values enter as values: no text
of a sample is ever read as an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from skyweave.errors import ConfigError, suggest
from skyweave.printing import visible
from skyweave.triggers.samples import Samples, Unknown

try:
    from cel_expr_python import cel
except ImportError as error:
    raise ConfigError("triggers need CEL; install it: pip install 'skyweave[triggers]'") from error

Kind = Literal["number", "text"]
LONGEST = 2000
"""Characters of an expression."""
DEEPEST = 50
"""Brackets within each other."""
_MEANS: dict[str, Callable[[list[float]], float]] = {
    "mean": lambda values: float(np.mean(values)),
    "min": min,
    "max": max,
    "p95": lambda values: float(np.percentile(values, 95)),
}
FUNCTIONS = (*_MEANS, *(f"{name}_s" for name in _MEANS), "count_s", "delta", "age_s")
_ASKED = re.compile(rf"\b({'|'.join(FUNCTIONS)})\(\s*(\"[^\"]*\"|'[^']*')")
_ERROR = re.compile(r"ERROR: <input>:\d+:(\d+): ([^\n]*)")


class Condition:
    """One expression over series of known names and kinds."""

    def __init__(self, text: str, series: Mapping[str, Kind]) -> None:
        """Raises :class:`ConfigError` with a caret for what does not type-check."""
        if len(text) > LONGEST or _depth(text) > DEEPEST:
            raise ConfigError(
                f"an expression of {len(text)} characters: give {LONGEST} at most, and no more "
                f"than {DEEPEST} brackets within each other"
            )
        for found in _ASKED.finditer(text):
            name = found[2][1:-1]
            if name not in series:
                hint = suggest(name, series)
                raise ConfigError(_pointed(text, found.start(2), f"no series '{name}'; {hint}"))
        self.text = text
        self._series = dict(series)
        self._samples = Samples()
        kinds = {"number": cel.Type.DOUBLE, "text": cel.Type.STRING}
        environment = cel.NewEnv(
            variables={name: kinds[kind] for name, kind in series.items()},
            functions=self._functions(),
        )
        try:
            self._expression = environment.compile(text)
        except (RuntimeError, ValueError) as error:
            raise ConfigError(_sentence(text, str(error))) from None
        if self._expression.return_type() != cel.Type.BOOL:
            kind = self._expression.return_type().name()
            raise ConfigError(_pointed(text, 0, f"is of type {kind}; write a comparison"))

    def holds(self, samples: Samples) -> bool | None:
        """Tell whether it holds now; None if that is not known.

        What is not known is absorbed by ``&&`` and ``||`` where the other side decides.
        """
        self._samples = samples
        data: dict[str, Any] = {}
        for name in self._series:
            try:
                value = samples.present(name)
            except Unknown:
                continue
            if isinstance(value, str) == (self._series[name] == "text"):
                data[name] = value
        result = self._expression.eval(data=data)
        return bool(result.value()) if result.type() == cel.Type.BOOL else None

    def _functions(self) -> list[Any]:
        kind = cel.Type
        made = []
        for name, reduce in _MEANS.items():
            made.append(_declare(name, [kind.STRING, kind.INT], self._counted(reduce)))
            made.append(_declare(f"{name}_s", [kind.STRING, kind.DOUBLE], self._timed(reduce)))
        made.append(_declare("count_s", [kind.STRING, kind.DOUBLE], self._count))
        made.append(_declare("delta", [kind.STRING], self._delta))
        made.append(_declare("age_s", [kind.STRING], lambda name: self._samples.age_s(name)))
        made.append(_declare("slot_phase", [], lambda: self._samples.slot_phase()))
        return made

    def _counted(self, reduce: Callable[[list[float]], float]) -> Callable[[str, int], float]:
        return lambda name, count: float(reduce(self._samples.last(name, count)))

    def _timed(self, reduce: Callable[[list[float]], float]) -> Callable[[str, float], float]:
        return lambda name, span_s: float(reduce(self._samples.within(name, span_s)))

    def _count(self, name: str, span_s: float) -> float:
        return float(self._samples.count(name, span_s))

    def _delta(self, name: str) -> float:
        present = self._samples.present(name)
        if isinstance(present, str):
            raise Unknown(f"{name} is a text")
        return present - self._samples.last(name, 1)[0]


def _declare(name: str, parameters: list[Any], call: Callable[..., float]) -> Any:
    overload = cel.Overload(f"{name}_{len(parameters)}", cel.Type.DOUBLE, parameters, False, call)
    return cel.FunctionDecl(name, [overload])


def _sentence(text: str, said: str) -> str:
    """Return the library's first finding with a caret of ours."""
    found = _ERROR.search(said)
    if not found:
        return f"{text}: cannot be read ({visible(said)[:200]})"
    what = found[2].replace(" [INVALID_ARGUMENT]", "")
    return _pointed(text, int(found[1]) - 1, visible(what)[:300])


def _pointed(text: str, place: int, what: str) -> str:
    line = " ".join(text.split("\n"))
    return f"{what}\n  {line}\n  {' ' * place}^"


def _depth(text: str) -> int:
    deepest = depth = 0
    for one in text:
        depth += (one in "([{") - (one in ")]}")
        deepest = max(deepest, depth)
    return deepest
