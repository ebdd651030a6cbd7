"""From solutions/ to build/source/ and labs/: the same bytes everywhere, nothing stale, nothing secret."""

from __future__ import annotations

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_release, build_sources
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


def test_the_paths_of_notebooks_are_returned(course):
    """By the name of each lab that was asked for."""
    lab, other = course.add_lab("01-a"), course.add_lab("02-b")

    assert build_sources(course.root, [lab]) == {"01-a": course.root / "build/source/01-a/01-a.ipynb"}
    assert build_release(course.root, [other]) == {"02-b": course.root / "labs/02-b/02-b.ipynb"}
    assert sorted(course.files("labs")) == ["02-b/02-b.ipynb"]


def test_what_the_solutions_no_longer_hold_is_removed(course):
    """A lab that is gone leaves both folders, also when another lab alone is built."""
    folder = course.add_lab("01-a").folder
    lab = course.add_lab("02-b")
    build(course)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    build_release(course.root, [lab])

    assert [sorted(course.files(name)) for name in ("build/source", "labs")] == [["02-b/02-b.ipynb"]] * 2


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


def test_a_students_work_is_not_overwritten(course):
    """Somebody who did the lab in labs/ keeps the answers."""
    course.add_lab("01-a")
    build(course)
    path = course.root / "labs" / "01-a" / "01-a.ipynb"
    work = path.read_text(encoding="utf-8").replace("raise NotImplementedError", "return 2 * number  #")
    path.write_text(work, encoding="utf-8")

    with pytest.raises(CourseKitError, match=r"labs/01-a/01-a\.ipynb was edited since it was built"):
        build(course)
    assert path.read_text(encoding="utf-8") == work
