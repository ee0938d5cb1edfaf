"""The page on requirements says what its files say, and refers to nothing that is not there."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "quic-requirements"
HEAD = 'document = "RFC 1"\ntitle = "A title"\nlink = "https://example.org/#section-"\n'
OTHERS = ("rfc9001", "rfc9002", "multipath")
RUST = """fn helper() {}

#[test]
fn it_works() {}

mod tests {
    #[test]
    fn twice() {}
}
"""
TEXT = """--- middle
# First {#first}

Nothing MUST be
here; Nobody MUST NOT care.  It may.

~~~
MUST
~~~
"""


@pytest.fixture
def tree(tmp_path: Path):
    """Return a function: the text of a file on requirements to what the script says."""
    for name in ("scripts", "docs", "crates/mpquic/src", "crates/mpquic/requirements", "texts"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy(SCRIPT, tmp_path / "scripts")
    (tmp_path / "crates/mpquic/src/some.rs").write_text(RUST)
    (tmp_path / "crates/mpquic/src/other.rs").write_text("#[test]\n#[ignore]\nfn twice() {}\n")
    for name in OTHERS:
        (tmp_path / f"crates/mpquic/requirements/{name}.toml").write_text(HEAD)
        (tmp_path / f"texts/draft-{name}.md").write_text("--- middle\n")
    (tmp_path / "texts/rfc9000.md").write_text(TEXT)

    def run(text: str, *options: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "crates/mpquic/requirements/rfc9000.toml").write_text(HEAD + text)
        command = [tmp_path / "scripts/quic-requirements", *options]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    return run


def test_the_page_says_what_the_files_say(tree, tmp_path: Path):
    rows = '"One." = { tests = ["it_works", "tests::twice"] }\n"Two." = { missing = "Nothing." }\n'
    text = f'["1 First"]\n{rows}'
    assert tree(text, "--check").returncode == 1
    assert tree(text).returncode == 0
    page = (tmp_path / "docs/quic-requirements.md").read_text()
    assert "| One. | `mpquic::some::it_works`<br>`mpquic::some::tests::twice` |" in page
    assert "| **all** | 1 | 0 | 1 | 0 |" in page
    assert tree(text, "--check").returncode == 0
    assert tree(text.replace("One", "1"), "--check").returncode == 1
    assert tree(text, "--against", "texts").returncode == 0
    fewer = tree('["1 First"]\n"A." = { how = "`helper`" }\n', "--against", "texts")
    assert "2 in the text, 1 here" in fewer.stdout
    assert "is called 'First'" in tree(text.replace("First", "Last"), "--against", "texts").stdout


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('{ tests = ["it_fails"] }', "it_fails is no test"),
        ('{ tests = ["works"] }', "works is no test"),
        ('{ tests = ["twice"] }', "twice is 2 tests"),
        ('{ tests = ["helper"] }', "helper is no test"),
        ('{ how = "`gone`" }', "gone is not in the sources"),
        ('{ how = "trust us" }', "nothing to check"),
        ('{ test = ["it_works"] }', "one of them at least"),
        ("{ }", "one of them at least"),
        ('{ how = "`helper`" }\n"One." = { how = "`helper`" }', "Cannot overwrite"),
    ],
)
def test_what_is_not_there_is_named(tree, row: str, says: str):
    done = tree(f'["1 First"]\n"One." = {row}\n')
    assert done.returncode == 2
    assert says in done.stderr
