"""Folders that are collected while they come: nothing is damaged by that, and what comes later is taken."""

import json
import os
import shutil
from datetime import datetime, timedelta, timezone
from itertools import permutations

import nbformat
import pytest

from coursekit.course import arrivals
from coursekit.course.arrivals import find_arrivals, take_arrivals
from coursekit.course.collect import collect
from coursekit.course.versions import read_submission, read_versions
from coursekit.grading.submission import student_folder, students_files
from coursekit.grading.submission.students_files import parse_notebook, read_contents

from .conftest import MONDAY, NAME, answer, edit, filled, later, to_be_graded, tree

SECRET, TIME, NOTEBOOK = "submission_secret.txt", "timestamp.txt", f"{NAME}.ipynb"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(arrivals, "SHORTLY_S", 0.01)
    monkeypatch.setattr(arrivals, "PAUSE_S", 0.02)


@pytest.fixture
def coming(course, hand_in, tmp_path):
    """Return a function that begins a hand-in, and then writes one part of it: "half" or a file."""

    def begin(student="ada", lab=NAME, answers=None):
        whole = hand_in(student, lab, answers or answer(1)).rename(tmp_path / f"{student}+{lab}")
        folder = course.inbound / f"{student}+{lab}+{MONDAY} UTC+random"
        folder.mkdir()

        def write(part):
            name = f"{lab}.ipynb" if part == "half" else part
            content = (whole / name).read_bytes()
            (folder / name).write_bytes(content[: len(content) // 2] if part == "half" else content)

        write.folder = folder
        return write

    return begin


def said(course, student="ada", lab=NAME):
    """Collect a lab; return what it says of a student, and the words before the names of those who still arrive."""
    collected, strays = collect(course, lab)
    lines = [entry.lines for entry in collected if entry.student == student]
    return lines, [stray.partition(f": {student};")[0] for stray in strays if "roster" not in stray]


def num_versions(course, student="ada"):
    """Count the versions that were kept."""
    return len(read_versions(course.hand_ins(NAME, student)))


def test_a_hand_in_is_collected_at_each_step_of_nbgraders_submit(course, coming):
    """Half a notebook is no version; the secret makes one of its own, with which feedback can go back."""
    write = coming()
    for part in ("half", NOTEBOOK):
        write(part)
        assert said(course) == ([], ["still arriving"])
        assert (num_versions(course), course.submitted(NAME, "ada").exists()) == (0, False)
    write(TIME)
    assert said(course) == ([(f"it came without {SECRET}: taken as it is",)], [])
    write(SECRET)
    assert said(course) == ([()], [])
    assert (tree(course.submitted(NAME, "ada")), num_versions(course)) == (tree(write.folder), 2)
    assert said(course) == ([()], [])
    assert num_versions(course) == 2
    assert not list((course.folder / "hand-ins" / NAME).glob(".*"))


@pytest.mark.parametrize("order", list(permutations([NOTEBOOK, TIME, SECRET])))
def test_in_any_order_all_that_came_is_graded(course, coming, order):
    """Other programs than nbgrader copy the notebook last; another lab's folder that comes meanwhile is its own."""
    write, other = coming(), coming(lab="02-other", answers={"double": "def double(x):\n    return 2 * x"})
    other(NOTEBOOK.replace(NAME, "02-other"))
    for part in ("half", *order):
        write(part)
        collect(course, NAME)
        collect(course, "02-other")
    assert said(course) == ([()], [])
    assert (tree(course.submitted(NAME, "ada")), to_be_graded(course)) == (tree(write.folder), "1")
    assert said(course, lab="02-other") == ([], ["still arriving"])


def test_a_folder_without_a_time_counts_when_it_is_quiet(course, coming, monkeypatch):
    """Of this machine's clock, from the last change on; or by the file system's, where that was long ago."""
    write, old = coming(), coming("bob")
    for part in (write, old):
        part(NOTEBOOK)
    for place in (old.folder / NOTEBOOK, old.folder):
        os.utime(place, (MONDAY.timestamp(),) * 2)
    lines = (f"it came without {TIME} and {SECRET}: taken as it is",)
    assert said(course) == ([], ["still arriving"])
    assert said(course, "bob")[0] == [lines]

    monkeypatch.setattr(arrivals, "QUIET_S", 1.0)
    (write.folder / "data.csv").write_text("1")
    monkeypatch.setattr(arrivals, "PAUSE_S", 0)
    assert said(course)[1] == ["still arriving"]
    monkeypatch.setattr(arrivals, "PAUSE_S", 1.1)
    assert said(course)[0][0][:1] == lines
    assert read_submission(course, NAME, "ada").notes[:1] == lines


def test_what_comes_in_one_piece_waits_for_nothing(course, coming, tmp_path, monkeypatch):
    """A whole folder that is renamed into the exchange is taken at the first look, as are those that nbgrader wrote."""
    write = coming()
    staging = write.folder.rename(tmp_path / "staging")
    for name in (NOTEBOOK, TIME, SECRET):
        shutil.copy(tmp_path / f"ada+{NAME}" / name, staging)
    staging.rename(write.folder)
    monkeypatch.setattr(arrivals, "PAUSE_S", None)  # nobody can sleep for that long
    assert said(course) == ([()], [])


def test_a_folder_may_vanish_while_it_is_read(course, hand_in):
    """It is named, and stops no other one."""
    gone = hand_in()
    hand_in("bob")
    arrived, _ = find_arrivals(course, NAME, str)
    shutil.rmtree(gone)
    (sentence,) = take_arrivals(course, NAME, arrived, dict.fromkeys(arrived))
    assert sentence.startswith(f"ada, {NAME}: not collected, it is not a folder")
    assert [entry.student for entry in collect(course, NAME)[0]] == ["bob"]


def test_what_earlier_calls_kept_of_half_a_folder_is_mended(course, coming):
    """Also where an earlier kit had kept it, whose records say less."""
    write = coming()
    for part in ("half", TIME, SECRET):
        write(part)
    assert "damaged" in said(course)[0][0][0]
    (path,) = course.hand_ins(NAME, "ada").glob("2*.json")
    record = json.loads(path.read_bytes())
    path.write_text(json.dumps({key: record[key] for key in record if key not in {"notes", "number"}}))
    write(NOTEBOOK)
    assert said(course) == ([()], [])
    assert to_be_graded(course) == "1"


def test_what_changes_later_is_another_version(course, coming):
    """The last content that can be graded counts, and nothing that was kept is lost."""
    write = coming()
    for part in (NOTEBOOK, TIME, SECRET):
        write(part)
    kept = []
    for content, graded in (("1", "1"), ("2", "2"), ("{", "2"), ("1", "1")):
        text = content if content == "{" else nbformat.writes(filled(course, NAME, answer(content)))
        (write.folder / NOTEBOOK).write_text(text)
        assert (said(course)[0], to_be_graded(course)) == ([()], graded)
        kept.append(tree(write.folder))
    assert num_versions(course) == 3
    assert all(tree(version.folder) in kept for version in read_versions(course.hand_ins(NAME, "ada")))


@pytest.mark.parametrize("came_whole", [True, False])
def test_a_change_after_the_due_date_is_late(course, hand_in, came_whole):
    """The student has made it, if all of nbgrader's files had come before; a copy that ends late is flagged."""
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    course = edit(course, f'{NAME} = "{now - timedelta(hours=1):%Y-%m-%dT%H:%M:%S+00:00}"\n')
    folder = hand_in(answers=answer(1), at=now - timedelta(hours=2))
    if not came_whole:
        (folder / SECRET).unlink()
    collect(course, NAME)
    (folder / NOTEBOOK).write_text(nbformat.writes(filled(course, NAME, answer(2))))
    for name in (TIME, SECRET):
        (folder / name).unlink(missing_ok=True)
    os.utime(folder / NOTEBOOK, (later(0).timestamp(),) * 2)
    os.utime(folder, (later(0).timestamp(),) * 2)
    collect(course, NAME)
    assert to_be_graded(course) == ("1" if came_whole else "2")
    assert "time" in {flag.kind for flag in read_submission(course, NAME, "ada").flags}


def test_what_was_kept_is_read_again_only_when_it_changes(course, hand_in, monkeypatch):
    """Watching a class reads and parses a version once, not at each look; a change counts, whatever time it claims."""
    folder = hand_in(answers=answer(1))
    collect(course, NAME)
    read, parsed = [], []
    monkeypatch.setattr(students_files, "COARSE_S", 0.0)
    monkeypatch.setattr(student_folder, "parse_notebook", lambda data: parsed.append(1) or parse_notebook(data))
    monkeypatch.setattr(arrivals, "read_contents", lambda path: read.append(path) or read_contents(path))
    for _ in range(3):
        collect(course, NAME)
    assert (read, len(parsed)) == ([folder], 1)

    before = (folder / NOTEBOOK).stat()
    (folder / NOTEBOOK).write_text(nbformat.writes(filled(course, NAME, answer(2))))
    os.utime(folder / NOTEBOOK, ns=(before.st_atime_ns, before.st_mtime_ns))
    collect(course, NAME)
    assert to_be_graded(course) == "2"
