"""`coursekit grade` on a class of the small lab: judged in a real sandbox, recorded, reported, and taken up again."""

import json
import re
from collections import Counter
from dataclasses import asdict

import pytest
from click.testing import CliRunner

from coursekit.cli.grade import grade
from coursekit.course import versions
from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.grade import grade_all, load_submissions, load_verdicts
from coursekit.course.roster import Student, write_roster
from coursekit.errors import codes_in
from coursekit.grading.judge.pool import PoolSettings
from coursekit.grading.judge.slot import START_TIMEOUT_S, SubmissionLimits
from coursekit.grading.submission import student_folder
from coursekit.grading.verdict import Verdict
from coursekit.labs.cells import CellScore

from .conftest import NAME, RIGHT, later, refused, tree

WRONG = {**RIGHT, "shard": "def shard(x, rank, size):\n    return x[:3]"}
DISJOINT = "AssertionError: the shards of two ranks must be disjoint"
pytestmark = pytest.mark.needs("bwrap")


TASK = {f"SLURM_ARRAY_TASK_{name}": value for name, value in zip(("ID", "MIN", "MAX", "COUNT"), "1122")}


@pytest.fixture
def run(call):
    """Return a function that calls `coursekit grade 01`, checks its exit status, and returns its lines."""

    def check(*words, status=0):
        found, lines = call("grade", "01", *words)
        assert found == status, lines
        return lines

    return check


def points(course):
    """Return everybody's points and how many cells wait for a person."""
    return {one.id: (dict(one.points), one.num_waiting) for one in read_grades(course).students}


def state(course):
    """Return everything in the course folder but the reports."""
    return {name: data for name, data in tree(course.folder).items() if not name.startswith("reports/")}


def count_calls(seen, monkeypatch, module, name):
    """Count the calls of a function from its module."""
    function = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args: seen.update([name]) or function(*args))


def test_a_class_is_graded_once(course, hand_in, enrol, run, monkeypatch):
    """Each submission is parsed and hashed once, equal answers are judged once, and manual cells wait.

    A second call starts no sandbox and changes nothing.
    """
    enrol("eve")
    hand_in("ada")
    hand_in("bob", answers=WRONG)
    hand_in("eve")
    collect(course, NAME)
    seen = Counter()
    count_calls(seen, monkeypatch, student_folder, "parse_notebook")
    count_calls(seen, monkeypatch, versions, "digest")
    lines = run()
    assert seen == {"parse_notebook": 3, "digest": 3}
    assert [line for line in lines if line.startswith(("ada ", "bob ", "eve "))] == lines[:3]
    assert points(course) == {"ada": ({NAME: 3}, 1), "bob": ({NAME: 1}, 1), "eve": ({NAME: 3}, 1)}
    assert len(list((course.folder / "verdicts").rglob("*.json"))) == 2
    assert {path.stat().st_mode & 0o777 for path in course.folder.glob("[vr]e[rp]*")} == {0o700}
    (page,) = (course.folder / "reports").glob("*.html")
    assert DISJOINT in page.read_text()

    before = state(course)
    monkeypatch.setenv("PATH", "")  # there is no bubblewrap any more
    assert run()[:3] == [
        f"{who} {NAME}: {num} of 3 (as before), 1 flag: owner" for who, num in zip(("ada", "bob", "eve"), "313")
    ]
    assert state(course) == before


def test_a_dry_run_shows_whose_points_would_move(course, hand_in, run):
    """It records nothing, and names each cell; the call after it records without judging, and then nothing moves."""
    hand_in("ada")
    hand_in("bob", answers=WRONG)
    collect(course, NAME)
    run()
    hand_in("bob")
    hand_in("eve", answers=WRONG)
    collect(course, NAME)
    before = points(course)

    lines = run("--dry-run")
    assert lines[-3:-1] == [f"bob {NAME}: +2 (shard-tests +2)", f"eve {NAME}: +1 (mean-tests +1)"]
    assert lines[-1].startswith("points of 2 of 3 hand-ins would change")
    assert points(course) == before

    lines = run()
    assert lines[0] == f"ada {NAME}: 3 of 3 (as before), 1 flag: owner"
    assert lines[1] == f"bob {NAME}: 3 of 3 (judged before, +2 points), 1 flag: owner"
    assert run("--dry-run")[-1].startswith("points of 0 of 3 hand-ins would change")


def test_fewer_points_than_before_are_named(course, hand_in, run):
    """Once, on the terminal and on the page, by a newer version of one's own, or of another member of the team."""
    write_roster(course.folder / "roster.csv", (Student("ada", team="x"), Student("bob", team="x"), Student("eve")))
    hand_in("ada")
    hand_in("eve")
    collect(course, NAME)
    assert with_fewer_points(run()) == []
    hand_in("bob", answers=WRONG, at=later(1))
    hand_in("eve", answers=WRONG, at=later(2))
    collect(course, NAME)
    team, alone = with_fewer_points(run())
    facts = (
        f"ada, bob, {NAME}: ",
        " 3 to 1: ",
        "bob handed in at 2026-11-16 13:00:00",
        "ada handed in at 2026-11-16 12:00:00",
    )
    assert [fact in team for fact in facts] == [True] * 4
    assert alone.startswith(f"! eve, {NAME}: ")
    assert team.removeprefix("! ") in max((course.folder / "reports").glob("*.html")).read_text()
    assert with_fewer_points(run()) == []


def with_fewer_points(lines):
    """Return the lines about points that are fewer now."""
    return [line for line in lines if "[points.lost]" in line]


@pytest.mark.parametrize("words", ["--feedback", "--watch --again", "--watch --dry-run", "--watch"])
def test_options_that_do_not_go_together_are_refused(words):
    """Nothing is ignored in silence; nor do the tasks of an array watch, who would all record the same points."""
    assert CliRunner().invoke(grade, ["01", *words.split()], env=TASK if words == "--watch" else {}).exit_code == 2


def test_only_what_changed_is_judged(course, hand_in, run):
    """New work of one student replaces the points; `--student` leaves the others alone, `--again` judges once more."""
    hand_in("ada", answers=WRONG)
    hand_in("bob", answers={**WRONG, "mean": "def mean(x):\n    return 0"})
    collect(course, NAME)
    run("--student", "ada")
    assert points(course) == {"ada": ({NAME: 1}, 1), "bob": ({}, 0)}

    hand_in("ada", at=later(1))
    collect(course, NAME)
    judged = sorted(line.partition(" (")[0] for line in run()[:2])
    assert judged == [f"ada {NAME}: 3 of 3", f"bob {NAME}: 0 of 3"]
    assert points(course) == {"ada": ({NAME: 3}, 1), "bob": ({NAME: 0}, 1)}

    written = {path: path.stat().st_ino for path in (course.folder / "verdicts").rglob("*.json")}
    assert "as before" not in run("--student", "bob", "--again")[0]
    changed = [path for path, inode in written.items() if path.stat().st_ino != inode]
    assert [json.loads(path.read_bytes())["student"] for path in changed] == ["bob"]


def test_work_that_is_not_there_is_no_zero(course, hand_in, run):
    """As with nbgrader: without a notebook nothing is recorded; the report says why, and earlier points stay."""
    hand_in("ada", notebook="", files={"notes.txt": "I was ill."})
    hand_in("bob", notebook="{ damaged")
    collect(course, NAME)
    before = state(course)
    lines = run()
    assert [line.split(": ")[0] for line in lines[:2]] == [f"ada {NAME}", f"bob {NAME}"]
    assert codes_in(lines[0]) == ["notebook.none", "submission.nothing", "files.ignored"]
    assert (codes_in(lines[1]), f"{NAME}.ipynb" in lines[1]) == (["notebook.damaged", "submission.nothing"], True)
    assert points(course) == {"ada": ({}, 0), "bob": ({}, 0)}
    assert state(course) == before


def test_nothing_collected_is_a_sentence(run):
    """The message names the student who was asked for, and what to do."""
    with refused("zoe", "[grading.nothing]"):
        run("--student", "zoe")


def test_a_fault_is_not_recorded_and_the_next_call_mends_it(course, hand_in):
    """Neither gradebook nor verdicts know of it; a right one afterwards is recorded for all who gave that answer.

    What a full disk or an editor has left of a verdict is not taken for one.
    """
    hand_in("ada")
    hand_in("bob")
    collect(course, NAME)
    staged = load_submissions(
        course, {NAME: course.root / "build" / "source" / NAME / f"{NAME}.ipynb"}, (), PoolSettings()
    )
    before = state(course)

    def broken(jobs):
        for job in jobs:
            yield Verdict(NAME, job.student, (), fault="the node died", key=job.key)

    graded = list(grade_all(course, staged, {}, broken))
    assert {one.verdict.student: one.outcome for one in graded} == dict.fromkeys(["ada", "bob"], "needs another run")
    assert state(course) == before

    def working(jobs):
        scores = (CellScore("shard-tests", 2.0, 2.0, ""), CellScore("mean-tests", 1.0, 1.0, ""))
        for job in jobs:
            yield Verdict(NAME, job.student, scores, key=job.key)

    list(grade_all(course, staged, {}, working))
    assert points(course) == {"ada": ({NAME: 3}, 1), "bob": ({NAME: 3}, 1)}
    assert len(load_verdicts(course, staged)) == 1
    (path,) = (course.folder / "verdicts").rglob("*.json")
    path.write_text(path.read_text()[:100])
    assert load_verdicts(course, staged) == {}


def test_the_help_names_every_limit():
    """With its number, so that nobody has to look into the source for why something ended."""
    said = CliRunner().invoke(grade, ["--help"]).output
    limits = {*asdict(SubmissionLimits()).values(), START_TIMEOUT_S}
    assert limits <= set(map(float, re.findall(r"\d+(?:\.\d+)?", said)))
