"""nginx as the origin of films in a world: one worker, its own configuration and folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from skyweave.live.errors import LiveError

if TYPE_CHECKING:  # every process of a world begins here, and has no use for descriptions
    from skyweave.live.world.world import World

PORT = 8080
_FIRST_ERROR = 400
_CONFIGURATION = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 256; }}
http {{
  access_log {folder}/access.log combined;
  sendfile on;
  default_type application/octet-stream;
  types {{ video/mp4 mp4; application/dash+xml mpd; video/iso.segment m4s; text/html html; }}
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen {port}; root {folder}/files; }}
}}
"""


def refusal() -> str | None:
    """Return why there can be no origin, with what to do; ``None``: there can."""
    if shutil.which("nginx") is None:
        return "the program 'nginx' is missing; on Debian: apt install nginx-light"
    return None


class Origin:
    """A web server of the server's side of a world; its folder lives until the block is left.

    ``files``: files or folders to serve, by their own names. nginx is one process, and ends with
    the world.
    """

    def __init__(self, files: Sequence[Path], port: int = PORT) -> None:
        self._files, self._port = files, port

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="skyweave-origin-"))
        served = self._folder / "files"
        served.mkdir()
        for file in self._files:
            (served / file.name).symlink_to(file.resolve())
        text = _CONFIGURATION.format(folder=self._folder, port=self._port)
        (self._folder / "nginx.conf").write_text(text)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def argv(self) -> list[str]:
        """The command that serves, until it is ended."""
        conf = str(self._folder / "nginx.conf")
        return ["nginx", "-p", str(self._folder), "-e", str(self._log), "-c", conf]

    def start(self, world: World, around: Sequence[str]) -> None:
        """Start nginx on the server of a world, behind the words of ``around`` (``mptcpize run``).

        Raises :class:`LiveError` with what nginx says when it does not start.
        """
        argv = [*around, *self.argv]
        order = {"do": "spawn", "argv": argv, "cwd": "/", "log": str(self._folder / "said.log")}
        try:
            self.pid = int(world.ask(world.server, order)["pid"])
        except LiveError as error:
            raise LiveError(f"nginx does not start: {self._last_words() or error}") from error

    def trouble(self, world: World) -> str | None:
        """Return what went wrong on the server's side, in a clause; ``None``: nothing."""
        if not world.ask(world.server, {"do": "lives", "pid": self.pid})["lives"]:
            return f"the server stopped ({self._last_words() or 'it was killed'})"
        answers = [line.split('"') for line in _lines(self._folder / "access.log")]
        for words in answers:
            status = words[2].split()[0] if len(words) > 2 else ""
            if status.isdigit() and int(status) >= _FIRST_ERROR:
                return f"the server answered {status} to '{words[1]}'"
        return None

    @property
    def _log(self) -> Path:
        return self._folder / "error.log"

    def _last_words(self) -> str:
        said = [*_lines(self._folder / "said.log"), *_lines(self._log)]
        return said[-1].strip() if said else ""


def _lines(file: Path) -> list[str]:
    if not file.exists():
        return []
    return file.read_text(encoding="utf-8", errors="replace").splitlines()
