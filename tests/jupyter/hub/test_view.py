"""What lies in the way of the demo's people."""

from __future__ import annotations

from coursekit.jupyter.hub.view import barriers, topmost


def test_folders_that_others_may_not_pass_are_found(tmp_path):
    """Above what is to be reached, each folder without the right to pass; of nested ones the outermost is covered."""
    paths = [tmp_path / "open" / "private" / "inner" / "file", tmp_path / "open" / "other"]
    for path in paths:
        path.mkdir(parents=True)
    for folder in (*tmp_path.parents, tmp_path):
        assert folder in barriers(paths) or folder.stat().st_mode & 0o001
    (tmp_path / "open" / "private").chmod(0o700)
    (tmp_path / "open" / "private" / "inner").chmod(0o750)

    found = {folder for folder in barriers(paths) if folder.is_relative_to(tmp_path / "open")}

    assert found == {tmp_path / "open" / "private", tmp_path / "open" / "private" / "inner"}
    assert topmost(found) == [tmp_path / "open" / "private"]
