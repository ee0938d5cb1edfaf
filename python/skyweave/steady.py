"""Watchers whose failure ends nothing: :func:`steady`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import ParamSpec

from skyweave.printing import visible

P = ParamSpec("P")


def steady(watch: Callable[P, None], what: str) -> Callable[P, None]:
    """Return ``watch`` so that no exception leaves it: the first one is logged, ``what`` names it.

    Ctrl-C and exits pass.
    """
    failed = False

    def call(*arguments: P.args, **named: P.kwargs) -> None:
        nonlocal failed
        try:
            watch(*arguments, **named)
        except Exception as error:
            if not failed:
                why = visible(f"{type(error).__name__}: {error}")
                logging.getLogger("skyweave").error("%s failed, the work goes on: %s", what, why)
            failed = True

    return call
