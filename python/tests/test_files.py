"""Files are written whole, or not at all."""

import os
import subprocess
import sys

import pytest

import laneval
from laneval._files import write_atomic

RELEVANT = [{"a"}] * 6
OLD = [["x", "a"], ["x", "y", "a"], ["a"], ["x", "a"], ["x", "y", "a"], ["x", "a"]]
NEW = [["a"], ["x", "a"], ["a"], ["a"], ["x", "a"], ["x", "y", "a"]]


def comparison():
    old, new = (laneval.evaluate_ids(RELEVANT, ranked, "RR", per_query=True) for ranked in (OLD, NEW))
    return new.compare(old)


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        comparison().save(page)
    assert page.read_text() == "old" and os.listdir(tmp_path) == ["page.html"]
    monkeypatch.undo()
    with pytest.raises(FileNotFoundError) as missing:
        comparison().save(tmp_path / "none" / "page.html")
    assert missing.value.filename == str(tmp_path / "none" / "page.html")


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_permissions_and_links_are_kept(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    link.symlink_to(real)
    write_atomic(link, "one")
    assert link.is_symlink() and real.read_text() == "one"
    real.chmod(0o604)
    write_atomic(link, b"two")
    assert real.stat().st_mode & 0o777 == 0o604 and real.read_text() == "two"
    write_atomic(tmp_path / ("n" * 255), "long names, too")


@pytest.mark.skipif(os.name != "posix", reason="the names of streams of POSIX")
def test_streams_are_written_to_as_they_are(tmp_path):
    code = "from laneval._files import write_atomic; write_atomic('/dev/stdout', 'ä\\n'); print('more')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == "ä\nmore\n".encode()
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert "more" in (tmp_path / "out").read_text("utf-8")
