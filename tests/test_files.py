"""Files are written whole or not at all."""

from __future__ import annotations

import pytest

from coursekit.files import write_text


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    """A text that cannot be encoded stops half-way; nobody reads that half."""
    path = tmp_path / "file"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "x" * 100_000 + "\udc80")
    assert path.read_text() == "old"
