"""Groups of commands whose modules load when a command runs: help alone imports none of them."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class Later(NamedTuple):
    """A command, or a group, in a module that is not imported yet."""

    home: str
    """``module:name`` of the function or of the :class:`typer.Typer`."""
    help: str
    """The first paragraph of its help; a test compares both."""

    def load(self, name: str) -> Any:
        """Import the module and return the command, called ``name``."""
        module, _, attribute = self.home.partition(":")
        found = getattr(importlib.import_module(module), attribute)
        if not isinstance(found, typer.Typer):
            app = typer.Typer(add_completion=False)
            app.command()(found)
            found = app
        command = typer.main.get_command(found)
        command.name = name
        return command


class LazyGroup(TyperGroup):
    """A group that knows names and help lines of :attr:`later` without importing their modules."""

    later: ClassVar[dict[str, Later]] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, one in self.later.items():
            self.add_command(TyperCommand(name, help=one.help))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load the command that is about to run; see :class:`typer.core.TyperGroup`."""
        name = args[0] if args else ""
        if name in self.later:
            self.add_command(self.later[name].load(name))
        return super().resolve_command(ctx, args)


def lazy_group(commands: dict[str, Later]) -> type[LazyGroup]:
    """Return the class of a group with these commands, for ``typer.Typer(cls=…)``."""
    return type("Group", (LazyGroup,), {"later": commands})
