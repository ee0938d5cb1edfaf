"""Artefacts in S3: whole, in parts, in ranges, and while the store comes and goes."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import timedelta

import databases
import pytest
from browsing import serving
from s3 import moto, s3
from world_http import PLAN, Front

from skyweave.errors import DataError
from skyweave.testbed.api import Office
from skyweave.testbed.client import Login, Testbed
from skyweave.testbed.errors import ConflictError, MissingError, TestbedError
from skyweave.testbed.store import Database, Objects, UnavailableError, back_up, objects, restore
from skyweave.testbed.wire.names import PART_BYTES

__all__ = ["moto", "postgresql", "s3"]
postgresql = databases.postgresql
pytestmark = pytest.mark.waits
SIZE = 9_000_000
CONTENT = os.urandom(SIZE)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """A store that is away is said to be away at once."""
    never = {"max_retries": 0, "retry_timeout": timedelta(seconds=1)}
    monkeypatch.setattr(objects, "RETRY", never)


@pytest.fixture
def front(s3, tmp_path):
    """An orchestrator whose artefacts are in S3."""
    made = Front(tmp_path / "office")
    made.office.objects = Objects(s3.bucket())
    made.office.uploads._objects = made.office.objects
    made.people({"ada": "admin"})
    yield made
    made.http.close()
    made.office.close()


class Delivery:
    """A run that is over, and its node, which has one file to deliver."""

    def __init__(self, front: Front, content: bytes = CONTENT) -> None:
        self.content, self.agent = content, front.party("ada", "alice")
        self.run = front.good("ada", "POST", "/experiments", PLAN)["runs"][0]
        (start,) = self.agent.orders()
        said = {"run": self.run, "fence": start.specification.fence}
        self.file = {
            "name": "data/all.bin", "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }  # fmt: skip
        done = {"kind": "finished", "outcome": "done", "artefacts": [self.file]}
        answer = self.agent.tell({"kind": "started"} | said, done | said)
        assert answer.status_code == 200, answer.text

    def declare(self) -> dict:
        where, body = f"/agent/runs/{self.run}/artefacts", json.dumps({"artefact": self.file})
        answer = self.agent.ask("POST", where, body.encode())
        assert answer.status_code == 200, answer.text
        return answer.json()

    def part(self, upload: str, offset: int):
        part = self.content[offset : offset + PART_BYTES]
        return self.agent.ask("PUT", f"/agent/uploads/{upload}", part, f"offset={offset}")

    def deliver(self) -> None:
        held = self.declare()
        while not held["done"]:
            answer = self.part(held["upload"], held["held"])
            assert answer.status_code == 200, answer.text
            held = answer.json()


def whole(store: Objects, path: str, *part: int) -> bytes:
    return b"".join(store.read(path, *part))


# the store


@pytest.mark.parametrize("parts", [False, True])
def test_a_file_is_kept_once_whole_or_in_parts(s3, tmp_path, monkeypatch, parts):
    if parts:
        monkeypatch.setattr(objects, "WHOLE_BYTES", 1_000_000)
    store, file = Objects(s3.bucket()), tmp_path / "file"
    file.write_bytes(CONTENT)
    assert store.size("e/n/d/r/a.bin") is None
    store.put("e/n/d/r/a.bin", file)
    assert store.size("e/n/d/r/a.bin") == SIZE
    assert whole(store, "e/n/d/r/a.bin") == CONTENT
    file.write_bytes(b"another")
    with pytest.raises(ConflictError, match="never overwritten"):
        store.put("e/n/d/r/a.bin", file)
    assert whole(store, "e/n/d/r/a.bin") == CONTENT
    assert list(store.paths()) == ["e/n/d/r/a.bin"]
    with pytest.raises(MissingError):
        store.read("e/n/d/r/b.bin")


@pytest.mark.parametrize("kind", ["s3", "folder"])
def test_a_part_of_a_file_is_read(s3, tmp_path, kind):
    store = Objects(s3.bucket() if kind == "s3" else tmp_path / "store")
    (tmp_path / "file").write_bytes(CONTENT)
    store.put("a", tmp_path / "file")
    for part in ((0,), (1,), (SIZE - 1,), (0, 1), (5, 9), (SIZE - 5, SIZE), (2**20, 2**21 + 1)):
        assert (
            whole(store, "a", *part)
            == CONTENT[slice(*part) if len(part) > 1 else slice(*part, None)]
        )


def test_a_store_that_is_away_is_a_sentence_everywhere(s3, tmp_path):
    store = Objects(s3.bucket())
    (tmp_path / "file").write_bytes(b"x")
    s3.door.shut()
    for ask in (
        lambda: store.put("a", tmp_path / "file"), lambda: store.size("a"),
        lambda: store.read("a"), lambda: list(store.paths()),
    ):  # fmt: skip
        with pytest.raises(UnavailableError) as raised:
            ask()
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) < 300
    s3.door.open()
    assert store.size("a") is None, "nothing was half written"
    store.put("a", tmp_path / "file")


@pytest.mark.parametrize("parts", [False, True])
def test_a_store_that_goes_away_while_it_is_written_to_has_nothing_half(
    s3, tmp_path, monkeypatch, parts
):
    if parts:
        monkeypatch.setattr(objects, "WHOLE_BYTES", 1_000_000)
    store, file = Objects(s3.bucket()), tmp_path / "file"
    file.write_bytes(CONTENT)
    s3.door.cut_after = 20  # in the middle of its first answer
    with pytest.raises(UnavailableError):
        store.put("a", file)
    s3.door.open()
    there = store.size("a")
    if there is None:
        store.put("a", file)
    assert store.size("a") == SIZE
    assert whole(store, "a") == CONTENT


def test_a_store_that_goes_away_while_it_is_read_says_so(s3, tmp_path):
    store = Objects(s3.bucket())
    (tmp_path / "file").write_bytes(CONTENT)
    store.put("a", tmp_path / "file")
    s3.door.cut_after = 3_000_000
    with pytest.raises(UnavailableError, match="broke off"):
        whole(store, "a")
    s3.door.open()
    assert whole(store, "a", 2_000_000) == CONTENT[2_000_000:]


def test_a_bucket_that_is_not_there_is_a_sentence(s3, tmp_path):
    store = Objects("s3://nobody-made-this/x")
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(TestbedError):
        store.put("a", tmp_path / "file")


# through the orchestrator


def test_a_node_delivers_in_parts_and_resumes_and_a_run_ends_when_all_is_there(front):
    one = Delivery(front)
    held = one.declare()
    assert one.part(held["upload"], 0).json()["held"] == PART_BYTES
    wrong = one.part(held["upload"], PART_BYTES + 1)
    assert (wrong.status_code, wrong.json()["held"]) == (409, PART_BYTES)
    assert one.declare()["held"] == PART_BYTES, "it goes on there"
    one.deliver()
    found = front.good("ada", "GET", f"/runs/{one.run}")
    assert found["run"]["state"] == "done"
    answer = front.ask("ada", "GET", f"/runs/{one.run}/artefacts/data/all.bin")
    assert answer.content == CONTENT


def test_a_store_that_is_away_loses_nothing_of_what_a_node_delivers(s3, front):
    one = Delivery(front)
    held = one.declare()
    s3.door.shut()
    offsets = range(0, SIZE, PART_BYTES)
    answers = [one.part(held["upload"], offset) for offset in offsets]
    assert [answer.status_code for answer in answers] == [200] * (len(offsets) - 1) + [503]
    assert "try again" in answers[-1].json()["error"] or "looked at" in answers[-1].json()["error"]
    assert front.good("ada", "GET", f"/runs/{one.run}")["run"]["state"] == "collecting"
    missing = front.ask("ada", "GET", f"/runs/{one.run}/artefacts/data/all.bin")
    assert missing.status_code == 404
    s3.door.open()
    again = one.part(held["upload"], offsets[-1])
    assert again.json() == {"upload": held["upload"], "held": SIZE, "done": True}
    assert front.good("ada", "GET", f"/runs/{one.run}")["run"]["state"] == "done"
    answer = front.ask("ada", "GET", f"/runs/{one.run}/artefacts/data/all.bin")
    assert answer.content == CONTENT


def test_an_answer_of_the_store_that_is_lost_does_not_stop_a_delivery(s3, front):
    """The store kept the file, and broke off before it said so."""
    one = Delivery(front, b"small")
    held = one.declare()
    put = front.office.objects.put

    def put_and_lose(path, file):
        put(path, file)
        raise UnavailableError("the answer is lost")

    front.office.objects.put = put_and_lose
    assert one.part(held["upload"], 0).status_code == 503
    front.office.objects.put = put
    assert one.part(held["upload"], 0).json()["done"]


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [
        ("bytes=0-", 206, slice(0, None)), ("bytes=5-9", 206, slice(5, 10)),
        (f"bytes={SIZE - 1}-", 206, slice(SIZE - 1, None)),
        (f"bytes=5-{SIZE * 2}", 206, slice(5, None)), (f"bytes={SIZE}-", 416, None),
        ("bytes=9-5", 200, slice(None)), ("bytes=-5", 200, slice(None)),
        ("bytes=0-1,3-4", 200, slice(None)), ("lines=1-", 200, slice(None)),
        ("bytes=" + "9" * 500 + "-", 200, slice(None)), ("bytes=\xb2-", 200, slice(None)),
    ],
    ids=range(11),
)  # fmt: skip
def test_ranges_of_a_file(front, asked, status, part):
    one = Delivery(front)
    one.deliver()
    headers = {"Authorization": f"Bearer {front.tokens['ada']}", "Range": asked.encode("latin-1")}
    answer = front.http.get(f"/runs/{one.run}/artefacts/data/all.bin", headers=headers)
    assert answer.status_code == status
    if part is None:
        assert answer.headers["content-range"] == f"bytes */{SIZE}"
        return
    assert answer.content == CONTENT[part]
    assert answer.headers["etag"] == f'"{DIGEST}"'
    if status == 206:
        begin, end, _ = part.indices(SIZE)
        assert answer.headers["content-range"] == f"bytes {begin}-{end - 1}/{SIZE}"
        other = headers | {"If-Range": '"of another file"'}
        answer = front.http.get(f"/runs/{one.run}/artefacts/data/all.bin", headers=other)
        assert (answer.status_code, answer.content) == (200, CONTENT)


def test_a_download_that_breaks_off_goes_on_where_it_was(s3, front, tmp_path, monkeypatch):
    Delivery(front).deliver()
    run = front.good("ada", "GET", "/runs")[0]["id"]
    asked, read = [], front.office.objects.read

    def noted(path, begin=0, end=None):
        asked.append(begin)
        if len(asked) == 1:
            s3.door.cut_after = 4_000_000
        return read(path, begin, end)

    front.office.objects.read = noted
    monkeypatch.setattr("skyweave.testbed.client.time.sleep", lambda _: s3.door.open())
    with serving(front) as address:
        certificate = (front.office.folder / "certificate.pem").read_text()
        with Testbed(Login(address, front.tokens["ada"], certificate)) as testbed:
            (file,) = testbed.fetch(run, tmp_path / "out")
    assert file.read_bytes() == CONTENT
    assert len(asked) == 2
    assert 0 < asked[1] < SIZE, "it did not begin anew"
    assert [one.name for one in file.parent.iterdir()] == ["all.bin"]


def test_a_download_that_never_comes_has_no_file_of_its_name(s3, front, tmp_path, monkeypatch):
    Delivery(front).deliver()
    run = front.good("ada", "GET", "/runs")[0]["id"]
    waited: list[float] = []
    monkeypatch.setattr("skyweave.testbed.client.time.sleep", waited.append)
    with serving(front) as address:
        certificate = (front.office.folder / "certificate.pem").read_text()
        with Testbed(Login(address, front.tokens["ada"], certificate)) as testbed:
            s3.door.shut()
            with pytest.raises(TestbedError, match=r"all\.bin"):
                testbed.fetch(run, tmp_path / "out")
    assert waited == [1, 2, 4]
    assert not (tmp_path / "out" / "data" / "all.bin").exists()


# backups


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_goes_from_one_bucket_to_another(s3, front, tmp_path, request, kind):
    one, out = Delivery(front), tmp_path / "all.tar"
    one.deliver()
    office, secret = front.office, front.office.folder / "orchestrator.pem"
    s3.door.cut_after = 2_000_000
    with pytest.raises((UnavailableError, DataError)):
        back_up(office.database, office.objects, [secret], out)
    assert not out.exists()
    assert not list(tmp_path.glob(".all.tar*")), "nothing half is left"
    s3.door.open()
    back_up(office.database, office.objects, [secret], out)

    bucket, folder, url = s3.bucket(), tmp_path / "new", databases._url(kind, request, tmp_path)
    s3.door.shut()
    folder.mkdir()
    fresh = Database(url)
    with pytest.raises((UnavailableError, DataError)):
        restore(out, fresh, Objects(bucket), folder)
    s3.door.open()
    (tmp_path / "file").write_bytes(CONTENT)
    half = Objects(bucket)
    (path,) = office.objects.paths()
    half.put(path, tmp_path / "file")  # what a restore had done before it broke off
    folder = tmp_path / "newer"
    folder.mkdir()
    restore(out, fresh, half, folder)
    fresh.close()
    again = Front.__new__(Front)
    again.office = Office(folder, url, bucket, now=lambda: front.now)
    with again.office.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM artefacts").scalar_one() == 1
    assert whole(again.office.objects, path) == CONTENT
    again.office.close()


def test_a_restore_over_other_content_is_refused(s3, front, tmp_path):
    one, out = Delivery(front, b"right"), tmp_path / "all.tar"
    one.deliver()
    back_up(front.office.database, front.office.objects, [], out)
    bucket = Objects(s3.bucket())
    (tmp_path / "file").write_bytes(b"wrong")
    (path,) = front.office.objects.paths()
    bucket.put(path, tmp_path / "file")
    (tmp_path / "new").mkdir()
    fresh = Database(f"sqlite:///{tmp_path}/fresh.db")
    with pytest.raises(ConflictError, match="never overwritten"):
        restore(out, fresh, bucket, tmp_path / "new")
    with fresh.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM people").scalar_one() == 0
    fresh.close()
