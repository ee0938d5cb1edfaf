"""Real players without a display, one file each.

Each runs as a program, so that it can be started in a network namespace or under ``mptcpize run``:
``python -m skyweave.video.players.vlc URL --out DIR --duration S``. It writes, while it plays,

* ``DIR/playback.jsonl``: an object a line, one for each event and a sample every 250 ms;
* the player's own log beside it;

and at its end ``DIR/summary.json``. A line has ``monotonic_ns`` (CLOCK_MONOTONIC), ``event``
(asked, playing, underflow, switch, sample, ended, closed) and the fields of
:class:`~skyweave.video.players.playback.Seen`; what a player does not tell is null.
"""

__all__: list[str] = []
