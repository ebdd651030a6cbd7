"""Files are written whole or not at all."""

import os
import subprocess
import sys
import time

import pytest

from coursekit.files import remove_unfinished, write_text

WRITER = """
import os, sys
from pathlib import Path
from coursekit.files import write_text
assert os.getpid() == 1
path, letter = Path(sys.argv[1]), sys.argv[2]
for _ in range(200):
    write_text(path, letter * 100_000)
    read = path.read_text()
    assert len(read) == 100_000 and len(set(read)) == 1, "torn"
"""


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    """A text that cannot be encoded stops half-way; nobody reads that half."""
    path = tmp_path / "file"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "x" * 100_000 + "\udc80")
    assert path.read_text() == "old"


@pytest.mark.needs("unshare")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: makes PID namespaces")
def test_writers_with_one_process_id_write_whole_files(tmp_path):
    """Two containers, or two nodes of a shared file system, can have a process of the same id."""
    line = ["unshare", "--pid", "--fork", sys.executable, "-c", WRITER, str(tmp_path / "file")]
    writers = [subprocess.Popen([*line, letter], stderr=subprocess.PIPE, text=True) for letter in "ab"]

    assert [writer.communicate()[1] for writer in writers] == ["", ""]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_only_old_unfinished_files_are_removed(tmp_path):
    """Nobody can know whether another node still writes a new one, whatever its name says."""
    below = tmp_path / "below"
    below.mkdir()
    for name in (".file.4194304.tmp", "below/.file.0a1b.tmp", "file", "below/file.tmp"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    (below / ".file.4194304.tmp").touch()  # of no live process here
    os.utime(below / ".file.4194304.tmp", (time.time() - 3600,) * 2)

    remove_unfinished(tmp_path)

    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert left == ["below/.file.4194304.tmp", "below/file.tmp", "file"]
