"""The builder changes only files that need it, and never what it did not make."""

from __future__ import annotations

import json
import shutil

import pytest

from coursekit.errors import CourseKitError
from coursekit.files import write_if_changed
from coursekit.labs.build.build import source_notebook
from coursekit.labs.build.generated import publish, refuse_edited, remove_stale


@pytest.fixture
def notebook(course):
    """Return a notebook as the builder makes it."""
    return source_notebook(course.add_lab("01-a"))


def tree(folder) -> list[str]:
    """Return every file below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_file_is_written_only_when_its_bytes_change(tmp_path):
    """An unchanged file keeps its time, so that nothing downstream runs again; no temporary file stays."""
    path, verdicts = tmp_path / "deep" / "file", []
    write_if_changed(path, b"one", lambda verdict, _: verdicts.append(verdict))
    before = path.stat()
    write_if_changed(path, b"one", lambda verdict, _: verdicts.append(verdict))
    after = path.stat()
    write_if_changed(path, b"two", lambda verdict, _: verdicts.append(verdict))

    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert (verdicts, path.read_bytes(), tree(tmp_path)) == (["written", "unchanged", "written"], b"two", ["deep/file"])


@pytest.mark.parametrize("is_gone_already", [False, True])
def test_files_of_an_earlier_build_go_and_others_stay(tmp_path, notebook, is_gone_already):
    """A picture that is no longer in the solution is removed, if nobody did by hand; a student's own file stays."""
    folder = tmp_path / "labs" / "01-a"
    publish(folder, notebook, {"files/old/a.png": b"a", "files/b.png": b"b"})
    (folder / "notes.txt").touch()
    if is_gone_already:
        shutil.rmtree(folder / "files" / "old")
    publish(folder, notebook, {"files/b.png": b"b"})

    assert tree(folder) == ["01-a.ipynb", "files/b.png", "notes.txt"]
    assert not (folder / "files" / "old").exists()


def test_a_tampered_list_of_files_removes_nothing_elsewhere(tmp_path, notebook):
    """The list in a notebook's metadata is text that anybody can edit."""
    folder = tmp_path / "labs" / "01-a"
    path = publish(folder, notebook, {})
    (tmp_path / "precious").touch()
    data = json.loads(path.read_text(encoding="utf-8"))
    data["metadata"]["coursekit"]["files"] = ["../../precious", "files/../../../precious", str(tmp_path / "precious")]
    path.write_text(json.dumps(data), encoding="utf-8")
    publish(folder, notebook, {})

    assert (tmp_path / "precious").exists()


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}']
)
def test_a_notebook_made_by_hand_is_not_overwritten(tmp_path, notebook, content):
    """Without the builder's mark the file belongs to somebody else."""
    path = tmp_path / "01-a" / "01-a.ipynb"
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")

    with pytest.raises(
        CourseKitError, match=r"01-a\.ipynb is not a notebook made by the builder: move it out of the way"
    ):
        publish(path.parent, notebook, {})
    assert path.read_text(encoding="utf-8") == content


def test_editing_is_noticed_and_running_is_not(tmp_path, notebook):
    """Outputs come back with the next run; a student's answers would not."""
    path = publish(tmp_path / "01-a", notebook, {})
    data = json.loads(path.read_text(encoding="utf-8"))
    data["cells"][1]["execution_count"] = 7
    path.write_text(json.dumps(data), encoding="utf-8")
    refuse_edited(path)

    data["cells"][1]["source"] = "num_epochs = 2"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(
        CourseKitError, match=r"01-a\.ipynb was edited since it was built and may hold a student's answers"
    ):
        refuse_edited(path)


def test_folders_of_labs_that_are_gone_are_removed(tmp_path, notebook):
    """What Jupyter left beside the notebook goes with it; hidden folders are none of the builder's business."""
    labs = tmp_path / "labs"
    for name in ("01-a", "02-b"):
        publish(labs / name, notebook, {"files/a.png": b"a"})
    (labs / "02-b" / ".ipynb_checkpoints").mkdir()
    (labs / "02-b" / ".ipynb_checkpoints" / "02-b-checkpoint.ipynb").touch()
    (labs / "03-empty").mkdir()
    (labs / ".hidden").mkdir()
    remove_stale(labs, {"01-a"})

    assert sorted(path.name for path in labs.glob("*")) == [".hidden", "01-a"]
    assert tree(labs) == ["01-a/01-a.ipynb", "01-a/files/a.png"]


def test_a_folder_with_something_else_in_it_stays(tmp_path, notebook):
    """One sentence names the foreign file, and the whole folder stays as it is."""
    publish(tmp_path / "labs" / "02-b", notebook, {"files/a.png": b"a"})
    (tmp_path / "labs" / "02-b" / "notes.txt").touch()

    with pytest.raises(
        CourseKitError, match=r"02-b/notes\.txt was not made by the builder, and the lab 02-b is no longer"
    ):
        remove_stale(tmp_path / "labs", {"01-a"})
    assert tree(tmp_path / "labs") == ["02-b/02-b.ipynb", "02-b/files/a.png", "02-b/notes.txt"]


def test_an_edited_notebook_of_a_lab_that_is_gone_stays(tmp_path, notebook):
    """A student's answers outlive the lab."""
    path = publish(tmp_path / "02-b", notebook, {})
    path.write_text(path.read_text(encoding="utf-8").replace("num_epochs = 1", "num_epochs = 2"), encoding="utf-8")

    with pytest.raises(CourseKitError, match="was edited since it was built"):
        remove_stale(tmp_path, {"01-a", "course"})
    assert path.exists()
