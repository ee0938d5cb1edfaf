"""Text on its way to a terminal: :func:`visible`, and printing without rich.

Names in files, requests of clients and reasons of peers are foreign text. What of them would steer
a terminal is printed as an escape instead: C0 and C1 controls, ESC among them, bidirectional
controls, line separators, surrogates, and characters that are not assigned.
"""

from __future__ import annotations

import sys
import unicodedata


def visible(text: str) -> str:
    r"""Return text on one line in which only printable characters and spaces are left as they are.

    >>> print(visible("a\x1b[2J\rb\n\u202ec [/x]"))
    a\x1b[2J\x0db\x0a\u202ec [/x]
    """
    if text.isprintable():
        return text
    return "".join(one if _is_harmless(one) else _escaped(one) for one in text)


def visible_lines(text: str) -> str:
    r"""The same of text whose line breaks are ours.

    >>> visible_lines("a\n\x07")
    'a\n\\x07'
    """
    return "\n".join(visible(line) for line in text.split("\n"))


def put(text: str, end: str = "\n") -> None:
    """Print what programs read (JSON, CSV, Markdown) on standard output."""
    sys.stdout.write(visible_lines(text) + end)


def complain(sentence: str) -> None:
    """Print a line for people on standard error."""
    sys.stderr.write(visible(sentence) + "\n")
    sys.stderr.flush()


def take_any_text() -> None:
    """Let standard output and error escape what their encoding has no character for."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _is_harmless(one: str) -> bool:
    return one.isprintable() or unicodedata.category(one) == "Zs"


def _escaped(one: str) -> str:
    code = ord(one)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
