"""The one console: rich without markup, with :func:`skyweave.printing.visible` for all text.

``make lint`` forbids rich's own ``Console`` and ``TextColumn`` elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO, Any

from rich import console as rich_console
from rich import progress as rich_progress
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from skyweave.printing import visible_lines


class Console(rich_console.Console):
    """Standard output, or standard error; strings are text and never markup."""

    def __init__(
        self,
        *,
        stderr: bool = False,
        width: int | None = None,
        quiet: bool = False,
        soft_wrap: bool = False,
        file: IO[str] | None = None,
        force_terminal: bool | None = None,
    ) -> None:
        super().__init__(
            stderr=stderr, width=width, quiet=quiet, soft_wrap=soft_wrap, file=file,
            force_terminal=force_terminal, markup=False, emoji=False, highlight=False,
        )  # fmt: skip

    def render_str(self, text: str, **how: Any) -> Text:
        """Return a string as text; here, so that tables reserve the width of its escapes."""
        plain = {"markup": False, "emoji": False}
        return super().render_str(visible_lines(text), **(how | plain))

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Render anything; whatever text it brings, no control character of it gets through."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(visible_lines(segment.text), segment.style)

    def status(self, status: Any, **how: Any) -> Status:
        """Show a line while something lasts."""
        text = Text(visible_lines(status)) if isinstance(status, str) else status
        return super().status(text, **how)


class TextColumn(rich_progress.TextColumn):
    """A column of a progress bar whose text is no markup."""

    def __init__(self, text_format: str, style: str = "none") -> None:
        super().__init__(text_format, style=style, markup=False)


def wide_console() -> Console:
    """Standard output; wide where it is not a terminal, so that no number is cut."""
    return Console(width=None if os.isatty(1) else 160)
