"""The table of settings: all that is made from it agrees with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fluid import SMALL, options

from skyweave.model import config
from skyweave.study.compile.links import LinkSettings
from skyweave.study.language.labels import LINKED, SETTINGS
from skyweave.study.language.plan import Compare
from skyweave.study.language.settings import LABELS, TABLE, Settings, markdown
from skyweave.study.run.session import prepare

DOCS = Path(__file__).parents[2] / "docs" / "studies.md"


def test_every_setting_is_a_row_of_the_table() -> None:
    assert list(TABLE) == list(Settings.model_fields)
    assert {name for name in Compare.model_fields if name not in TABLE} == {
        "paths", "drives", "flows",
    }  # fmt: skip


def test_the_page_of_the_docs_has_the_table() -> None:
    assert markdown(Compare) in DOCS.read_text()


@pytest.mark.parametrize("name", [n for n, a in TABLE.items() if a.default is not None])
def test_a_default_may_be_written_out(name: str, tmp_path: Path) -> None:
    """What the table calls the default is valid, and gives the same runs as silence."""
    about = TABLE[name]
    given = Settings.model_validate({name: about.default})
    assert getattr(given, name) == about.fallback


def test_settings_reach_the_models_that_read_them_by_name() -> None:
    quic = {name for name, about in TABLE.items() if about.of == "mpquic"}
    assert quic == set(config.Quic.model_fields)
    links = {name for name, about in TABLE.items() if about.of == "links"}
    assert links <= set(LinkSettings.__dataclass_fields__)


def test_every_label_of_a_run_is_known_and_every_known_one_is_there(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SMALL)
    labels = prepare(tmp_path / "study.toml", options(tmp_path / "out")).jobs[0].labels
    fixed = {"drives", "drive", "origin", "synthetic", "seed", "direction", "paths", "transport"}
    assert set(labels) - fixed - {"flow_counts", "control"} == set(SETTINGS)
    assert set(LABELS) | {"flows"} == set(SETTINGS)


def test_labels_that_follow_others() -> None:
    assert LINKED["send_buffer_mb"] == {"receive_buffer_mb"}
    assert LINKED["flows"] == {"congestion"}
    assert {"mode", "scheduler", "ack_path", "receive_buffer_mb"} < LINKED["multipath"]
    assert "multipath" not in LINKED["multipath"]
