"""``skyweave node``: join a testbed, do its runs, say what is going on.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from skyweave.cli.stopping import stopped
from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.printing import complain
from skyweave.testbed.node.home import DEFAULT

node_app = typer.Typer(
    help="Lend this machine to a testbed, by its owner's policy.", no_args_is_help=True
)
HomeOption = Annotated[
    Path, typer.Option("--home", metavar="DIR", help="The folder of the node: key, policy, book.")
]


@node_app.command()
def join(
    invitation: Annotated[
        str, typer.Argument(metavar="INVITATION", help="What 'skyweave testbed invite' printed.")
    ],
    owner: Annotated[
        str, typer.Option(metavar="NAME", help="Your name on the testbed: yours is this machine.")
    ],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of this node; that of the machine else.")
    ] = None,
    home: HomeOption = DEFAULT,
) -> None:
    """Join a testbed; what may run here is in the policy file that this writes."""
    from skyweave.testbed.node.home import Home, host_name
    from skyweave.testbed.node.home import join as enrol
    from skyweave.testbed.wire import Invitation

    place = Home(home)
    who = enrol(place, Invitation.parse(invitation), name or host_name(), "node", owner)
    console = Console(soft_wrap=True)
    console.print(f"This is node '{who.name}' of {who.url}.")
    console.print(f"What may run here: {place.policy}. Now: skyweave node run --home {home}")


@node_app.command()
def run(home: HomeOption = DEFAULT) -> None:
    """Do the runs that the testbed orders and the owner allows, until Ctrl-C."""
    from skyweave.testbed.node.start import started

    if os.geteuid() != 0:
        raise ConfigError("a node needs root, for the namespaces of its sandboxes; use sudo")
    said = Console(stderr=True, soft_wrap=True)
    with started(home, lambda one: complain(f"skyweave: {one}")) as agent, stopped(agent.stop.set):
        said.print(f"Node '{agent.talk.name}': {agent.node.policy.words}. Ctrl-C ends it.")
        agent.run()


@node_app.command()
def policy(home: HomeOption = DEFAULT) -> None:
    """Check the owner's policy file, and say what it allows."""
    from skyweave.testbed.node.home import Home
    from skyweave.testbed.node.policy import read_policy

    Console(soft_wrap=True).print(read_policy(Home(home).policy).words)


@node_app.command()
def unit(home: HomeOption = DEFAULT) -> None:
    """Print a unit of systemd, for /etc/systemd/system/skyweave-node.service."""
    from skyweave.printing import put
    from skyweave.testbed.node.unit import unit as text_of

    put(text_of("node", home.absolute()), end="")
