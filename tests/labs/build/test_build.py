"""From solutions/ to build/source/ and labs/: the same bytes everywhere, nothing secret, nobody's work lost."""

from __future__ import annotations

import json

import pytest

from coursekit.errors import CourseKitError
from coursekit.files import write_if_changed
from coursekit.labs.build.build import build_release
from coursekit.labs.lab import find_labs


def build(course) -> None:
    """Build everything."""
    build_release(course.root, find_labs(course.root))


def test_two_builds_in_different_folders_are_byte_equal(new_course, example):
    """Nothing of the place, the time or chance is in what is built."""
    built = []
    for name in ("one", "another/deeper"):
        course = new_course(name)
        folder = course.add_lab("01-a", example).folder
        course.add_lab("02-b", '# %%\nprint("hello")\n')
        (folder / "files" / "pictures").mkdir(parents=True)
        (folder / "files" / "pictures" / "a.png").write_bytes(bytes(range(256)))
        build(course)
        built.append((course.files("build/source"), course.files("labs")))

    assert built[0] == built[1]
    names = ["01-a/01-a.ipynb", "01-a/files/pictures/a.png", "02-b/02-b.ipynb"]
    assert [sorted(files) for files in built[0]] == [names, names]


def test_only_the_folder_files_is_public(course):
    """A note beside the solution, or what lies about in build/source, is not copied (nbgrader would publish it)."""
    folder = course.add_lab("01-a").folder
    (folder / "solution_notes.md").touch()
    (folder / "files").mkdir()
    (folder / "files" / "data.csv").write_text("1,2\n", encoding="utf-8")
    (folder / "files" / ".DS_Store").touch()
    build(course)
    (course.root / "build" / "source" / "01-a" / "answers.txt").write_text("42", encoding="utf-8")
    build(course)

    assert sorted(course.files("labs")) == ["01-a/01-a.ipynb", "01-a/files/data.csv"]


def test_a_leak_stops_the_release_before_anything_is_written(course):
    """An answer in a public file: one sentence, and labs/ stays as it was, other labs included."""
    folder = course.add_lab("02-b").folder
    lab = course.add_lab("01-a")
    build_release(course.root, [lab])
    before = course.files("labs")
    course.add_lab("01-a", '# %%\nprint("changed")\n')
    (folder / "files").mkdir()
    (folder / "files" / "helper.py").write_text("def f():\n    twice = number + number\n", encoding="utf-8")

    with pytest.raises(CourseKitError, match=r"^02-b: files/helper\.py would show students 'twice = number \+ number'"):
        build(course)
    assert course.files("labs") == before


@pytest.fixture
def notebook(course):
    """Return the path of a students' notebook."""
    course.add_lab("01-a")
    build(course)
    return course.root / "labs" / "01-a" / "01-a.ipynb"


def test_a_students_work_is_not_overwritten_and_a_run_is(course, notebook):
    """Outputs come back with the next run; a student's answers would not."""
    data = json.loads(notebook.read_text(encoding="utf-8"))
    data["cells"][1]["execution_count"] = 7
    notebook.write_text(json.dumps(data), encoding="utf-8")
    build(course)

    work = notebook.read_text(encoding="utf-8").replace("raise NotImplementedError", "return 2 * number  #")
    notebook.write_text(work, encoding="utf-8")
    with pytest.raises(CourseKitError, match=r"labs/01-a/01-a\.ipynb was edited since it was built"):
        build(course)
    assert notebook.read_text(encoding="utf-8") == work


@pytest.mark.parametrize("content", ["", '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'])
def test_a_notebook_made_by_hand_is_not_overwritten(course, notebook, content):
    """Without the builder's mark the file belongs to somebody else."""
    notebook.write_text(content, encoding="utf-8")

    with pytest.raises(CourseKitError, match=r"01-a\.ipynb is not a notebook made by the builder: move it out"):
        build(course)
    assert notebook.read_text(encoding="utf-8") == content


def test_a_file_is_written_only_when_its_bytes_change(tmp_path):
    """An unchanged file keeps its time, so that nothing downstream runs again; no temporary file stays."""
    path, verdicts = tmp_path / "deep" / "file", []
    for data in (b"one", b"one", b"two"):
        write_if_changed(path, data, lambda verdict, _: verdicts.append(verdict))

    assert (verdicts, path.read_bytes()) == (["written", "unchanged", "written"], b"two")
    assert list(path.parent.iterdir()) == [path]
