"""`coursekit hand-in`: one file with the notebook and its job records, wherever a student's copy lies."""

import json
import os
import time
import zipfile
from datetime import datetime, timezone

import nbformat
import pytest
from click.testing import CliRunner

from coursekit.cli import cli
from coursekit.course.hand_in.pack import find_work, pack
from coursekit.course.hand_in.unpack import read_zip
from coursekit.errors import CourseKitError
from coursekit.solution_snippet import wrap

from .conftest import MONDAY, NAME, RIGHT, filled, job_record, tree

OTHER = "02-other"


@pytest.fixture
def desk(course, tmp_path, monkeypatch):
    """A student's folder without solutions/, and a function that puts a notebook there."""
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COURSEKIT_ROOT")

    def put(path=f"{NAME}.ipynb", answers=RIGHT, lab=NAME):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(filled(course, lab, answers), folder / path)
        return folder / path

    put.folder = folder
    return put


def add_job(folder, number, **facts):
    """Put a job's folder as `coursekit execute` leaves it."""
    job = folder / "jobs" / f"{NAME}-{number}"
    job.mkdir(parents=True)
    (job / "result.json").write_text(job_record(facts={"nodes": "n1", "job_id": str(number)}, **facts))
    (job / "core").write_text("not to be packed")


def run(*words):
    """Run `coursekit hand-in` here and return what it said."""
    result = CliRunner().invoke(cli, ["hand-in", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def packed(folder):
    """Return manifest and content of the one file that was written."""
    (path,) = folder.glob("*.zip")
    return read_zip(path.read_bytes())


def test_what_is_packed(desk):
    """Notebook, records of the three newest jobs, and a manifest."""
    notebook = desk(f"labs/{NAME}/{NAME}.ipynb")
    for number in (1, 2, 3, 4):
        add_job(desk.folder, number, started=f"2026-11-16T1{number}:00:00+00:00")
    add_job(desk.folder, 9, lab=OTHER)
    begin = datetime.now(timezone.utc).replace(tzinfo=None)
    lines = run("01", "--student", "ada").splitlines()
    end = datetime.now(timezone.utc).replace(tzinfo=None)
    manifest, contents = packed(desk.folder)
    jobs = {f"jobs/{NAME}-{i}/result.json" for i in (2, 3, 4)}
    assert contents.keys() == {"hand-in.json", f"{NAME}.ipynb", *jobs}
    assert contents[f"{NAME}.ipynb"] == notebook.read_bytes()

    assert (manifest.lab, manifest.user) == (NAME, "ada")
    assert begin <= manifest.time <= end
    (path,) = desk.folder.glob("*.zip")
    assert path.name == f"{NAME}--ada--{manifest.time:%Y-%m-%dT%H-%M-%SZ}.zip"
    assert lines[1].startswith("  3 of 3 ")
    assert [line.partition(",")[0] for line in lines[2:5]] == [f"  job {i} on n1: 2 ranks" for i in (4, 3, 2)]
    assert lines[5].startswith(f"written: {path.name} ({path.stat().st_size / 1000:.0f} kB), ")


def test_what_is_not_filled_in_is_counted(desk):
    """What still holds the stub, or came from *Stuck?*, is named; the file is written all the same."""
    desk(answers={"shard": f"shard = take('{wrap(['shard'], 'def shard(x, rank, size): return 0')}')"})
    lines = run(NAME).splitlines()
    assert [line.rpartition(":")[2] for line in lines[2:4]] == [" mean, explain", " shard"]
    assert lines[1].startswith("  0 of 3 ")
    assert packed(desk.folder)[1].keys() == {"hand-in.json", f"{NAME}.ipynb"}


@pytest.mark.parametrize("place", ["", f"{NAME}/", f"labs/{NAME}/"])
@pytest.mark.parametrize("named", ["1", NAME])
def test_where_it_is_found(desk, place, named):
    """Here, in a folder of the lab's name, or in labs/; no solutions/ are needed."""
    path = desk(f"{place}{NAME}.ipynb")
    assert find_work(named, desk.folder).notebook == path.resolve()


def test_the_checkout_is_found_as_by_other_commands(desk, tmp_path, monkeypatch):
    """From below it, and by its variable."""
    path = desk(f"labs/{NAME}/{NAME}.ipynb").resolve()
    (desk.folder / "labs" / "below").mkdir()
    assert find_work("01", desk.folder / "labs" / "below").notebook == path
    monkeypatch.setenv("COURSEKIT_ROOT", str(desk.folder))
    assert find_work("01", tmp_path).notebook == path


def test_a_path_is_taken_as_it_is(desk):
    """A notebook of another name is packed under the lab's own; without a path, the one in this folder is."""
    desk("mine (1).ipynb")
    assert find_work("mine (1).ipynb", desk.folder).contents.keys() == {f"{NAME}.ipynb"}
    here, there = desk(), desk(f"labs/{NAME}/{NAME}.ipynb", {})
    assert find_work("01", desk.folder).notebook == here.resolve()
    assert find_work(f"labs/{NAME}", desk.folder).notebook == there.resolve()


def test_nothing_is_overwritten(desk):
    """Two hand-ins of the same second are two files, and none is half there."""
    desk()
    work = find_work("01", desk.folder)
    paths = [pack(work, "ada", desk.folder, MONDAY) for _ in range(3)]
    stem = f"{NAME}--ada--2026-11-16T12-00-00Z"
    assert [path.name for path in paths] == [f"{stem}.zip", f"{stem}-2.zip", f"{stem}-3.zip"]
    assert len({path.read_bytes() for path in paths}) == 1
    assert len(tree(desk.folder)) == 4


def test_unpacked_it_tells_its_time(desk):
    """Browsers unpack it by themselves, which leaves only the files' own time; a broken clock is no error."""
    desk()
    work = find_work(NAME, desk.folder)
    wall = time.localtime(MONDAY.replace(tzinfo=timezone.utc).timestamp())[:6]
    for moment, expected in ((MONDAY, wall), (MONDAY.replace(year=1970), (1980, 1, 1, 0, 0, 0))):
        with zipfile.ZipFile(pack(work, "ada", desk.folder, moment)) as packed_file:
            assert {entry.date_time for entry in packed_file.infolist()} == {expected}


FOREIGN = nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]))


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda desk: desk().write_text('{"cells": ['), "notebook.damaged"),
        (lambda desk: os.truncate(desk(), 90_000_000), "notebook.too-big"),
        (lambda desk: desk(f"{NAME}.ipynb", {}, OTHER), "notebook.wrong-lab"),
        (lambda desk: desk().write_text(FOREIGN), "notebook.no-exercise"),
        (lambda desk: desk.folder, "notebook.not-found"),
        (lambda desk: (desk("01-a.ipynb"), desk("01-b.ipynb")), "lab.ambiguous"),
    ],
)
def test_what_cannot_be_handed_in_is_one_sentence(desk, make, code):
    """What is wrong, where, and what to do; nothing is written."""
    make(desk)
    with pytest.raises(CourseKitError) as caught:
        find_work("01", desk.folder)
    assert caught.value.code == code


def test_answers_whose_cells_have_lost_their_metadata_are_found(desk, course, monkeypatch):
    """As Kaggle saves a notebook, in the folder of the course, which says what each cell is."""
    path = desk()
    whole = find_work("01", desk.folder)
    notebook = json.loads(path.read_bytes())
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    path.write_text(json.dumps(notebook))
    with pytest.raises(CourseKitError, match=r"\[notebook\.no-exercise\]"):
        find_work("01", desk.folder)
    monkeypatch.setenv("COURSEKIT_ROOT", str(course.root))
    found = find_work("01", desk.folder)
    assert (found.num_answers, found.missing, found.taken) == (whole.num_answers, [], whole.taken)


def test_a_missing_path_and_an_odd_user(desk):
    """Each is one sentence."""
    with pytest.raises(CourseKitError, match=r"no/such.ipynb .*\[notebook\.no-file\]"):
        find_work("no/such.ipynb", desk.folder)
    desk()
    result = CliRunner().invoke(cli, ["hand-in", "01", "--student", "../bob"])
    assert result.exception.code == "student.no-id"
    assert not list(desk.folder.glob("*.zip"))
