"""Public sets: pinned, hashed, licensed, found locally, fetched only with the right bytes."""

import hashlib
from urllib.parse import urlparse

import pooch
import pytest
import requests

from skyweave.data import data_set, data_sets, fetch, find, load_set
from skyweave.data.importers import fused
from skyweave.data.registry import cache_folder, check
from skyweave.errors import DataError


def test_every_set_is_pinned_and_says_its_licence():
    for name, known in data_sets().items():
        assert known.name == name
        assert known.licence
        assert known.citation
        assert known.files
        for file in known.files:
            url = urlparse(known.url(file))
            host = "media.githubusercontent.com" if file.lfs else "raw.githubusercontent.com"
            assert url.hostname == host
            assert known.commit in url.path


def test_the_archives_of_sigmetrics26_are_those_that_the_importer_takes():
    registered = {file.sha256 for known in data_sets().values() for file in known.files if file.lfs}
    assert registered == set(fused.ARCHIVES)


def test_local_copies_bear_the_registered_hashes(real):
    for name in ("satcell", "starlink_on_the_road", "leocc_example"):
        assert check(data_set(name), real / name)
        assert fetch(name, real) == real / name
        assert load_set(name, real)
    assert (
        len(
            check(
                data_set("nuwins2024_starlink_tmobile_sync"),
                real / "nuwins2024_starlink_tmobile_sync",
            )
        )
        == 6
    )


def test_local_folder_by_environment(real, monkeypatch):
    monkeypatch.setenv("SKYWEAVE_DATA", str(real))
    assert find("leocc_example") == real / "leocc_example"


def test_a_changed_local_file_is_refused(tmp_path):
    folder = tmp_path / "leocc_example"
    folder.mkdir()
    (folder / "delay_example.txt").write_text("1\n2\n")
    with pytest.raises(DataError, match=r"delay_example\.txt: sha256 .* is not the registered"):
        fetch("leocc_example", tmp_path)


def test_unknown_sets_and_folders(tmp_path):
    with pytest.raises(DataError, match="data set 'satcel' is unknown; did you mean 'satcell'"):
        find("satcel")
    with pytest.raises(DataError, match="no such folder; correct --data or SKYWEAVE_DATA"):
        find("satcell", tmp_path / "nowhere")
    with pytest.raises(DataError, match="run 'skyweave data fetch satcell'"):
        find("satcell", tmp_path)


class Server:
    """Stands in for pooch's downloader: gives each address its bytes, or fails."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def __call__(self, **_options):
        return self._download

    def _download(self, url, output_file, _pooch):
        self.asked.append(url)
        if isinstance(self.answer, Exception):
            raise self.answer
        with open(output_file, "wb") as file:  # noqa: PTH123  pooch names its own draft
            file.write(self.answer)


def served(monkeypatch, answer):
    server = Server(answer)
    monkeypatch.setattr(pooch, "HTTPDownloader", server)
    return server


def test_offline_is_one_sentence(monkeypatch):
    served(monkeypatch, requests.ConnectionError("no route"))
    with pytest.raises(
        DataError, match=r"^satcell: github\.com cannot be reached.*--data"
    ) as error:
        fetch("satcell")
    assert "\n" not in str(error.value)


def test_wrong_bytes_are_refused_and_not_kept(monkeypatch):
    served(monkeypatch, b"something else")
    with pytest.raises(DataError, match="its sha256 is not cbcd1e8a525b"):
        fetch("satcell")
    assert not any(path.is_file() for path in cache_folder("satcell").rglob("*"))


def test_a_server_that_says_no(monkeypatch):
    answer = requests.Response()
    answer.status_code = 404
    served(monkeypatch, requests.HTTPError(response=answer))
    with pytest.raises(DataError, match="the server answered 404"):
        fetch("leocc_example")


def test_right_bytes_are_fetched_once(monkeypatch):
    content = b"1\n2\n3\n"
    known = data_set("leocc_example")
    digest = hashlib.sha256(content).hexdigest()
    files = tuple(file.model_copy(update={"sha256": digest}) for file in known.files)
    monkeypatch.setitem(data_sets(), "leocc_example", known.model_copy(update={"files": files}))
    server = served(monkeypatch, content)
    folder = fetch("leocc_example")
    assert (folder / "bw_example.txt").read_bytes() == content
    assert fetch("leocc_example") == folder == find("leocc_example")
    assert server.asked == [known.url(file) for file in known.files]
    (one,) = load_set("leocc_example")
    assert one.paths["starlink"].rtt_ms.values.tolist() == [2, 4, 6]
