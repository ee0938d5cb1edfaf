"""TOML and JSON from outside: whatever is in them, what comes of it is small and shallow.

The parsers of Python's library follow brackets by recursion and dotted keys in quadratic time, and
numbers of thousands of digits are errors of other kinds than theirs; all of that is one sentence.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from skyweave.errors import ConfigError
from skyweave.model.files import MIB, read_regular
from skyweave.model.limits import DEEPEST
from skyweave.model.textfile import Text

MOST_TOML_BYTES = 4 * MIB
MOST_SHOWN = 80
"""How many characters of a value a message repeats."""
_NO_KEY = re.compile(r"[^\w\-\"'. \t]")
_TOO_DEEP = f"is nested more than {DEEPEST} deep"


def read_toml(file: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file and what it says.

    Raises :class:`ConfigError` when the file cannot be read or is not TOML, is larger than 4 MiB
    or nested deeper than :data:`DEEPEST`.
    """
    try:
        text = read_regular(file, MOST_TOML_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text; save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror}); check the path") from error
    except ValueError as error:  # a name with a null character
        raise ConfigError(f"{str(file)!r}: is no name of a file ({error}); correct it") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if max(part.count(".") for part in _NO_KEY.split(line)) > DEEPEST:
            raise ConfigError(f"{file}:{number}: a key {_TOO_DEEP}; correct that line")
    try:
        content = tomllib.loads(text)
    except ValueError as error:  # a TOMLDecodeError, or a number with thousands of digits
        raise ConfigError(f"{file}: is not valid TOML: {error}; correct that line") from error
    except RecursionError as error:
        raise ConfigError(f"{file}: {_TOO_DEEP}; flatten it") from error
    if deeper_than(content, DEEPEST):
        raise ConfigError(f"{file}: {_TOO_DEEP}; flatten it")
    return text, content


def parse_json(text: Text, remedy: str) -> Any:
    """Return what a JSON text says.

    Raises :class:`skyweave.DataError` with its line when it is not JSON or nested deeper than
    :data:`DEEPEST`; ``remedy`` says what to do then.
    """
    try:
        facts = json.loads(text.body)
    except RecursionError:
        raise text.bad(1, f"this {_TOO_DEEP}", remedy) from None
    except ValueError as error:
        raise text.bad(getattr(error, "lineno", 1), "this is not JSON", remedy) from None
    if deeper_than(facts, DEEPEST):
        raise text.bad(1, f"this {_TOO_DEEP}", remedy)
    return facts


def deeper_than(value: Any, most: int) -> bool:
    """Tell whether lists and tables are nested in one another more than ``most`` times.

    >>> deeper_than({"a": [1, {"b": 2}]}, 3), deeper_than({"a": [1, {"b": 2}]}, 2)
    (False, True)
    """
    level = [value]
    for _ in range(most):
        level = [
            one
            for outer in level
            if isinstance(outer, dict | list)
            for one in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(one, dict | list) for one in level)


def shown(value: Any) -> str:
    """Return a value as a message repeats it: as Python writes it, cut when it is long.

    >>> shown("x" * 200)[-8:], shown(16**5000)
    ("xxxx'...", 'a number of thousands of digits')
    """
    try:
        words = repr(value if not isinstance(value, str) else value[:MOST_SHOWN])
    except (ValueError, RecursionError):
        return "a number of thousands of digits"
    is_cut = len(words) > MOST_SHOWN or (isinstance(value, str) and len(value) > MOST_SHOWN)
    return words[: MOST_SHOWN + 2] + "..." if is_cut else words
