"""`coursekit hand-in`: one file with the notebook and its job records, wherever a student's copy lies."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from datetime import datetime, timezone

import nbformat
import pytest
from click.testing import CliRunner

from coursekit import __version__
from coursekit.cli import cli
from coursekit.course.hand_in.pack import find_work, pack
from coursekit.errors import CourseKitError

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


def add_job(folder, number, notebook=None, **facts):
    """Put a job's folder as `coursekit execute` leaves it."""
    job = folder / "jobs" / f"{NAME}-{number}"
    job.mkdir(parents=True)
    (job / "result.json").write_text(job_record(facts={"nodes": "n1", "job_id": str(number)}, **facts))
    if notebook:
        (job / f"{NAME}.ipynb").write_bytes(notebook.read_bytes())
    (job / "core").write_text("not to be packed")


def run(*words):
    """Run `coursekit hand-in` here and return what it said."""
    result = CliRunner().invoke(cli, ["hand-in", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def packed(folder):
    """Return the content of the one file that was written."""
    (path,) = folder.glob("*.zip")
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        return {name: file.read(name) for name in file.namelist()}


def test_what_is_packed(desk):
    """Notebook, records and executed notebooks of the three newest jobs, and a manifest that fits all of it."""
    notebook = desk(f"labs/{NAME}/{NAME}.ipynb")
    for number in (1, 2, 3, 4):
        add_job(desk.folder, number, notebook, started=f"2026-11-16T1{number}:00:00+00:00")
    add_job(desk.folder, 9, lab=OTHER)
    begin = datetime.now(timezone.utc).replace(microsecond=0)
    output = run("01", "--user", "ada")
    end = datetime.now(timezone.utc)
    contents = packed(desk.folder)
    jobs = {f"jobs/{NAME}-{i}/{file}" for i in (2, 3, 4) for file in ("result.json", f"{NAME}.ipynb")}
    assert contents.keys() == {"hand-in.json", f"{NAME}.ipynb", *jobs}
    assert contents[f"{NAME}.ipynb"] == notebook.read_bytes()

    manifest = json.loads(contents.pop("hand-in.json"))
    moment = datetime.fromisoformat(manifest.pop("time"))
    assert begin <= moment <= end
    assert manifest == {
        "lab": NAME,
        "user": "ada",
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()},
        "coursekit": __version__,
        "schema": 1,
    }
    (path,) = desk.folder.glob("*.zip")
    assert path.name == f"{NAME}--ada--{moment:%Y-%m-%dT%H-%M-%SZ}.zip"
    lines = output.splitlines()
    assert lines[1:5] == [
        "  3 of 3 exercises are filled in",
        *(f"  job {i} on n1: 2 ranks, 12.5 s, 3 points" for i in (4, 3, 2)),
    ]
    assert lines[5].startswith(f"written: {path.name} (0.0 MB), as the hand-in of ada")
    assert lines[6].startswith("Send this one file to your instructor")


def test_what_is_not_filled_in_is_counted(desk):
    """Code and text that still hold the stub are named; the file is written all the same."""
    desk(answers={"shard": RIGHT["shard"]})
    lines = run(NAME).splitlines()
    assert lines[1:4] == [
        "  1 of 3 exercises are filled in",
        "  ! 2 still hold the stub: mean, explain",
        "  no record of a job: there is none in jobs/",
    ]
    assert packed(desk.folder).keys() == {"hand-in.json", f"{NAME}.ipynb"}


@pytest.mark.parametrize("place", ["", f"{NAME}/", f"labs/{NAME}/"])
@pytest.mark.parametrize("named", ["01", NAME])
def test_where_it_is_found(desk, place, named):
    """Here, in a folder of the lab's name, or in labs/; no solutions/ are needed."""
    path = desk(f"{place}{NAME}.ipynb")
    assert find_work(named, desk.folder).notebook == path.resolve()


def test_the_checkout_is_found_from_below_and_by_its_variable(desk, tmp_path, monkeypatch):
    """As other commands find it."""
    path = desk(f"labs/{NAME}/{NAME}.ipynb").resolve()
    assert find_work("01", path.parent.parent / "..").notebook == path
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("COURSEKIT_ROOT", str(desk.folder))
    assert find_work("01", tmp_path / "elsewhere").notebook == path


def test_a_path_is_taken_as_it_is(desk):
    """A notebook of another name is packed under the lab's own; others of the lab are named."""
    desk("mine (1).ipynb")
    assert find_work("mine (1).ipynb", desk.folder).contents.keys() == {f"{NAME}.ipynb"}
    here, there = desk(), desk(f"labs/{NAME}/{NAME}.ipynb", {})
    work = find_work("01", desk.folder)
    assert (work.notebook, work.elsewhere) == (here.resolve(), (there.resolve(),))
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


def test_what_is_too_big(desk):
    """A huge executed notebook is left out and named; a huge notebook is one sentence."""
    path = desk()
    add_job(desk.folder, 1, path)
    with (desk.folder / f"jobs/{NAME}-1/{NAME}.ipynb").open("r+b") as file:
        file.truncate(30_000_000)
    assert f"  ! left out: jobs/{NAME}-1/{NAME}.ipynb: it is too big: 30 MB, at most 20 MB" in run("01")
    assert packed(desk.folder).keys() == {"hand-in.json", f"{NAME}.ipynb", f"jobs/{NAME}-1/result.json"}


def damaged(desk):
    """Half a notebook."""
    desk().write_text('{"cells": [')


def of_another_lab(desk):
    """Under the name of this lab."""
    desk(f"{NAME}.ipynb", {}, OTHER)


def of_nobody(desk):
    """A notebook that is none of the course."""
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), desk.folder / f"{NAME}.ipynb")


def nothing(desk):
    """Leave the folder empty."""
    del desk


def two_labs(desk):
    """Two that begin alike."""
    desk("01-a.ipynb")
    desk("01-b.ipynb")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (damaged, r"01-small.ipynb is damaged: it is not valid JSON \(line 1\)\. Open it in JupyterLab"),
        (of_another_lab, r"01-small.ipynb is the notebook of another lab \(02-other\): put your notebook of 01-small"),
        (of_nobody, "01-small.ipynb holds no exercise of the course: hand in the notebook that the course gave you"),
        (nothing, "there is no notebook of a lab '01' in .*: change to the folder with your notebook, or give its"),
        (two_labs, "'01' fits several labs: 01-a, 01-b"),
    ],
)
def test_what_cannot_be_handed_in_is_one_sentence(desk, make, said):
    """What is wrong, where, and what to do; nothing is written."""
    make(desk)
    with pytest.raises(CourseKitError, match=said):
        find_work("01", desk.folder)


def test_a_missing_path_and_an_odd_user(desk):
    """Each is one sentence."""
    with pytest.raises(CourseKitError, match=r"no/such.ipynb is not a notebook: give the path of yours"):
        find_work("no/such.ipynb", desk.folder)
    desk()
    result = CliRunner().invoke(cli, ["hand-in", "01", "--user", "../bob"])
    assert isinstance(result.exception, CourseKitError)
    assert "'../bob' is not an id: give yours with --user" in str(result.exception)
    assert not list(desk.folder.glob("*.zip"))


def test_it_is_of_the_learner_half(desk):
    """A process of its own hands in without nbgrader, nbformat, rich or anything else beside click."""
    desk()
    code = (
        "import sys; from coursekit.cli import cli; cli(['hand-in', '01', '--user', 'ada'], standalone_mode=False); "
        "print({name.split('.')[0] for name in sys.modules} & set(sys.argv[1:]))"
    )
    heavy = ["nbgrader", "nbformat", "nbconvert", "rich", "numpy", "tensorflow", "psutil", "jinja2"]
    done = subprocess.run(
        [sys.executable, "-c", code, *heavy], capture_output=True, text=True, timeout=900, check=False, env=os.environ
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "set()"), done.stderr
