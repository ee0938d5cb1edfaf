"""A client of the testbed for Python: ``Testbed.open()`` reads what ``testbed login`` wrote."""

from __future__ import annotations

import hashlib
import io
import os
import re
import secrets
import tarfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx2

from skyweave.errors import ConfigError
from skyweave.testbed.errors import ConflictError, MissingError, RefusedError, TestbedError
from skyweave.testbed.wire.names import MOST_INPUT_BYTES
from skyweave.testbed.wire.pinning import fetch_certificate, trusting

FINAL = frozenset({"done", "failed", "preempted", "cancelled", "refused", "skipped", "lost"})
"""States in which a run is over."""
MOST_ANSWER_BYTES = 50_000_000
TRIES = 4
"""How often a submission is sent that gets no answer."""
_ADDRESS = re.compile(
    r"(https?://[A-Za-z0-9.\-\[\]:]{1,260})/?#([A-Za-z0-9_-]{10,80})(?:\.([0-9a-f]{64}))?"
)
_KINDS: dict[int, type[TestbedError]] = {
    401: RefusedError, 403: RefusedError, 404: MissingError, 409: ConflictError,
}  # fmt: skip


class NoAnswerError(TestbedError):
    """Nobody answered: it is not known whether what was asked was done."""


@dataclass(frozen=True)
class Login:
    """Where the testbed is, and who one is there."""

    url: str
    token: str
    certificate: str | None = None
    """The one certificate to trust (PEM); None for what the system trusts."""

    @classmethod
    def file(cls) -> Path:
        """Return where it is kept."""
        home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return home / "skyweave" / "testbed.toml"

    def save(self) -> Path:
        """Write it where its owner alone can read it."""
        file = self.file()
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}.draft-{os.getpid()}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as out:
            out.write(f'url = "{self.url}"\ntoken = "{self.token}"\n')
            if self.certificate:
                out.write(f'certificate = """\n{self.certificate}"""\n')
        draft.replace(file)
        return file

    @classmethod
    def load(cls) -> Login:
        """Read it; ``SKYWEAVE_TESTBED_URL`` and ``SKYWEAVE_TESTBED_TOKEN`` come first."""
        environment = os.environ
        if "SKYWEAVE_TESTBED_URL" in environment:
            token = environment.get("SKYWEAVE_TESTBED_TOKEN", "")
            return cls(environment["SKYWEAVE_TESTBED_URL"].rstrip("/"), token)
        try:
            found = tomllib.loads(cls.file().read_text())
            return cls(found["url"], found["token"], found.get("certificate"))
        except FileNotFoundError:
            raise ConfigError("you have not logged in; run 'skyweave testbed login'") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"{cls.file()}: cannot be used ({str(error)[:100]}); log in again"
            ) from None


def parse_address(text: str) -> tuple[str, str, str | None]:
    """Return URL, code or token, and pin of ``https://HOST:PORT#SECRET.PIN``."""
    found = _ADDRESS.fullmatch(text.strip())
    if not found:
        raise ConfigError(
            "that is no address to log in at; paste the whole of what 'testbed up' or an admin gave"
        )
    return found[1], found[2], found[3]


def log_in(address: str, name: str | None = None) -> Login:
    """Log in by a token, or become the first admin by a code, and keep it in a file."""
    url, secret, pin = parse_address(address)
    certificate = fetch_certificate(url, pin) if pin else None
    if not secret.startswith("skyweave_"):
        if name is None:
            raise ConfigError("the first admin needs a name; give --name")
        with Testbed(Login(url, "", certificate)) as testbed:
            secret = testbed.ask("POST", "/first", {"code": secret, "name": name})["token"]
    login = Login(url, secret, certificate)
    with Testbed(login) as testbed:
        testbed.me()
    login.save()
    return login


class Testbed:
    """A testbed, asked over HTTPS. Errors are those of :mod:`skyweave.testbed`, in a sentence."""

    __test__ = False

    def __init__(self, login: Login, timeout_s: float = 30.0) -> None:
        self.login = login
        self._client = httpx2.Client(
            base_url=login.url, timeout=timeout_s, verify=trusting(login.certificate),
            headers={"Authorization": f"Bearer {login.token}"} if login.token else {},
        )  # fmt: skip

    @classmethod
    def open(cls) -> Testbed:
        """Open the testbed that one is logged in at."""
        return cls(Login.load())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None,
        **query: str | float | None,
    ) -> Any:  # fmt: skip
        """Ask for anything, and return the answer's JSON."""
        asked = {name: value for name, value in query.items() if value is not None}
        try:
            answer = self._client.request(method, path, json=body, params=asked)
        except httpx2.HTTPError as error:
            raise NoAnswerError(f"{self.login.url}: does not answer ({_short(error)})") from None
        return _content(answer)

    def me(self) -> dict[str, Any]:
        """Return whose token it is."""
        found: dict[str, Any] = self.ask("GET", "/me")
        return found

    def nodes(self) -> list[dict[str, Any]]:
        """List nodes and servers."""
        found: list[dict[str, Any]] = self.ask("GET", "/nodes")
        return found

    def upload(self, folder: Path) -> dict[str, Any]:
        """Pack a folder and upload it; return the ``input`` of a plan."""
        packed = pack(folder)
        digest = hashlib.sha256(packed).hexdigest()
        try:
            _content(self._client.put(f"/inputs/{digest}", content=packed))
        except httpx2.HTTPError as error:
            raise TestbedError(f"{self.login.url}: does not answer ({_short(error)})") from None
        return {"sha256": digest, "bytes": len(packed)}

    def submit(self, plan: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
        """Submit an experiment, with the folder that it runs in; return its id and its runs.

        It is asked again when no answer comes, and submitted once.
        """
        if folder is not None:
            plan = {**plan, "input": self.upload(folder)}
        own_id = secrets.token_hex(12)
        for again in range(TRIES):
            try:
                found: dict[str, Any] = self.ask("POST", "/experiments", plan, id=own_id)
            except NoAnswerError:
                if again == TRIES - 1:
                    raise
                time.sleep(2**again)
            else:
                break
        return found

    def check(self, plan: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
        """Ask what the calendar would say to a plan; nothing is uploaded and nothing reserved."""
        if folder is not None:
            packed = pack(folder)
            digest = hashlib.sha256(packed).hexdigest()
            plan = {**plan, "input": {"sha256": digest, "bytes": len(packed)}}
        found: dict[str, Any] = self.ask("POST", "/experiments/check", plan)
        return found

    def runs(self, **which: str | float | None) -> list[dict[str, Any]]:
        """List runs, the newest first; of a ``node``, an ``experiment``, in a ``state``."""
        found: list[dict[str, Any]] = self.ask("GET", "/runs", None, **which)
        return found

    def run(self, run: str) -> dict[str, Any]:
        """Show a run with its history and its files."""
        found: dict[str, Any] = self.ask("GET", f"/runs/{run}")
        return found

    def wait(self, run: str, timeout_s: float = 3600.0, every_s: float = 1.0) -> dict[str, Any]:
        """Return a run when it is over; :class:`TestbedError` if that takes longer."""
        end = time.monotonic() + timeout_s
        while True:
            found = self.run(run)
            if found["run"]["state"] in FINAL:
                return found
            if time.monotonic() > end:
                state = found["run"]["state"]
                raise TestbedError(f"run {run} is not over after {timeout_s:.0f} s: it is {state}")
            time.sleep(every_s)

    def stop(self, run: str) -> dict[str, Any]:
        """Stop a run, or let it not begin."""
        found: dict[str, Any] = self.ask("POST", f"/runs/{run}/stop")
        return found

    def fetch(self, run: str, out: Path) -> list[Path]:
        """Save the files of a run in a new folder, and check their digests."""
        files = [
            one["artefact"] for one in self.ask("GET", f"/runs/{run}/artefacts") if one["stored"]
        ]
        out.mkdir(parents=True, exist_ok=False)
        written = []
        for one in files:
            target = out / one["name"]
            if not target.resolve().is_relative_to(out.resolve()):
                raise TestbedError(f"{one['name']!r}: leads out of {out}; nothing more is fetched")
            target.parent.mkdir(parents=True, exist_ok=True)
            self._save(f"/runs/{run}/artefacts/{one['name']}", target, one)
            written.append(target)
        return written

    def _save(self, path: str, target: Path, said: Mapping[str, Any]) -> None:
        """Save a file; what breaks off goes on where it was, and nothing has its name before."""
        draft = target.with_name(f".{target.name}.part")
        for again in range(TRIES):
            try:
                self._receive(path, draft, said["bytes"])
            except NoAnswerError:
                if again == TRIES - 1:
                    raise
                time.sleep(2**again)
            else:
                break
        with draft.open("rb") as content:
            if hashlib.file_digest(content, "sha256").hexdigest() != said["sha256"]:
                raise TestbedError(f"{target.name}: is not what the node had measured; fetch again")
        draft.rename(target)

    def _receive(self, path: str, draft: Path, size: int) -> None:
        """Add what is missing of a file."""
        held = draft.stat().st_size if draft.exists() else 0
        if held and held >= size:
            return
        headers = {"Range": f"bytes={held}-"} if held else {}
        try:
            with self._client.stream("GET", path, headers=headers) as answer:
                if answer.status_code not in (200, 206):
                    answer.read()
                    if answer.status_code == 503:
                        raise NoAnswerError(f"{draft.name}: is not available now; try again")
                    _content(answer)
                goes_on = answer.headers.get("content-range", "").startswith(f"bytes {held}-")
                with draft.open("ab" if held and goes_on else "wb") as file:
                    for piece in answer.iter_bytes():
                        file.write(piece)
        except httpx2.HTTPError as error:
            name = draft.name[1:].removesuffix(".part")
            raise NoAnswerError(f"{name}: did not arrive ({_short(error)})") from None


def pack(folder: Path) -> bytes:
    """Return a folder as a tar archive that is the same for the same files."""
    if not folder.is_dir():
        raise ConfigError(f"{folder}: is no folder; give the one that the experiment runs in")
    out, total = io.BytesIO(), 0
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for file in _files(folder):
            info = tarfile.TarInfo(file.relative_to(folder).as_posix())
            info.size = file.stat().st_size
            info.mode = 0o755 if os.access(file, os.X_OK) else 0o644
            total += info.size
            if total > MOST_INPUT_BYTES - 1_000_000:
                raise ConfigError(f"{folder}: holds more than 63 MB; leave something out")
            with file.open("rb") as content:
                tar.addfile(info, content)
    return out.getvalue()


def _files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.is_symlink():
            raise ConfigError(f"{file}: is a link; give the file itself")
        if file.is_file():
            yield file


def _content(answer: httpx2.Response) -> Any:
    if len(answer.content) > MOST_ANSWER_BYTES:
        raise TestbedError("the answer is too long")
    try:
        found = answer.json()
    except ValueError:
        found = None
    if answer.is_success:
        return found
    said = found.get("error") if isinstance(found, dict) else None
    sentence = str(said)[:500] if said else f"the testbed answered {answer.status_code}"
    raise _KINDS.get(answer.status_code, TestbedError)(sentence)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:150] or type(error).__name__
