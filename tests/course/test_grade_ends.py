"""How `coursekit grade` ends when it is stopped, when workers die, when the disk is full or the database is lost."""

import os
import shutil
import signal
import subprocess
from collections import Counter
from datetime import datetime, timezone

import pytest
from nbgrader.api import Grade
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.folder import find_course
from coursekit.course.grade import clear_failures, grade_all, load_submissions, load_verdicts
from coursekit.course.status.class_status import read_class
from coursekit.course.status.report import write_page
from coursekit.errors import CourseKitError
from coursekit.grading.judge.pool import PoolSettings
from coursekit.grading.verdict import Verdict
from coursekit.labs.cells import CellScore
from coursekit.labs.lab import find_labs

from .conftest import NAME, RIGHT, later, refused, tree
from .grader import end_state, grade, grader, left

HANGING = {**RIGHT, "mean": "def mean(x):\n    while True:\n        pass"}
PAGE_BYTES = 4096


def judged(course, seen=None, before_each=lambda _: None):
    """Return a function that grades everybody; its judge gives full points at once."""

    def judge(jobs):
        for job in jobs:
            if seen is not None:
                seen[job.student] += 1
            before_each(job.student)
            scores = (CellScore("shard-tests", 2.0, 2.0, ""), CellScore("mean-tests", 1.0, 1.0, ""))
            yield Verdict(NAME, job.student, scores, key=job.key)

    source = course.root / "build" / "source" / NAME / f"{NAME}.ipynb"
    staged = load_submissions(course, {NAME: source}, (), PoolSettings())
    return lambda: list(grade_all(course, staged, load_verdicts(course, staged), judge))


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_it_leaves_nothing_and_keeps_what_it_has(course, hand_in, number, status):
    """Ctrl-C or kill while an answer hangs: one sentence, nothing runs, and the next call knows what was judged."""
    hand_in("ada")
    hand_in("bob", answers=HANGING)
    collect(course, NAME)
    with grader(course.folder, "--jobs", "1") as running:
        running.wait_until(lambda: running.num_verdicts() == 1)
        running.process.send_signal(number)
        end, said = running.wait()
    assert (end, left()) == (status, [])
    assert "coursekit: stopped; what was judged is kept: call again, without --again, to continue." in said
    assert "Traceback" not in said
    end, said = grade(course.folder, "--student", "ada")
    assert (end, "ada 01-small: 3 of 3 (as before" in said) == (0, True), said


@pytest.mark.needs("bwrap")
def test_watching_it_grades_what_comes_in(course, hand_in):
    """Each version gets points and feedback without another call, also an earlier one that comes again.

    An exchange that is away for a while does not end it; Ctrl-C does, with status 130.
    """
    wrong = {**RIGHT, "mean": "def mean(x):\n    return 0"}
    page = course.folder / "feedback" / "ada" / NAME / f"{NAME}.html"

    def has(points):
        return page.is_file() and f"(Score: {points} / 7.0)" in page.read_text()  # of the whole lab

    def log():
        return "".join(path.read_text() for path in (course.folder / "reports").glob("*.log"))

    with grader(course.folder, "--watch", "--feedback", "--jobs", "1") as running:
        for hour, (answers, points) in enumerate(((wrong, "2.0"), (RIGHT, "3.0"), (wrong, "2.0"))):
            hand_in("ada", answers=answers, at=later(hour))
            running.wait_until(lambda points=points: has(points))
            if not hour:
                running.wait_until(lambda: f"feedback: ada {NAME}" in log())
                exchange, away = course.inbound.parent, course.folder.parent / "away"
                exchange.rename(away)
                running.wait_until(lambda: "Still trying." in log())
                away.rename(exchange)
        running.process.send_signal(signal.SIGINT)
        end, said = running.wait()

    assert (end, left()) == (130, []), said
    assert [line.split()[-2:] for line in said.splitlines() if line.endswith(("trying.", "again."))] == [
        ["Still", "trying."],
        ["works", "again."],
    ]
    assert [line.partition(" (")[0] for line in said.splitlines() if line.startswith("ada ")] == [
        f"ada {NAME}: {points} of 3" for points in (2, 3, 2)
    ]
    assert said.count("[points.lost]") == 1


@pytest.mark.needs("bwrap")
def test_a_machine_that_kills_workers_is_no_zero(course, hand_in):
    """A worker that is killed is started again once; then the hand-in needs another run: no record, and status 3."""
    hand_in("bob", answers=HANGING)
    collect(course, NAME)
    before = tree(course.folder)
    killed = set()
    with grader(course.folder) as running:
        while len(killed) < 2:
            (worker,) = running.wait_until(lambda: set(running.workers()) - killed)
            killed.add(worker)
            worker.kill()
        status, said = running.wait()
    assert (status, left()) == (3, [])
    assert "bob 01-small: needs another run: the worker that judged it died" in said
    (log,) = (course.folder / "reports").glob("grading-*.log")
    assert (log.name in said, "bob 01-small: its worker died" in log.read_text()) == (True, True)
    after = {name: data for name, data in tree(course.folder).items() if not name.startswith("reports/")}
    assert after == before


@pytest.fixture
def small_disk(tmp_path):
    """A folder that holds 4 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mounted, check=False, capture_output=True).returncode:
        pytest.skip("only root may mount a file system, and not in every container")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_a_sentence_and_loses_nothing(course, hand_in, small_disk, tmp_path):
    """Wherever the space ends, the message says so, and with space again the end is as if there had been enough."""
    for number, student in enumerate(("ada", "bob", "cyd")):
        hand_in(student, answers={**RIGHT, "mean": f"def mean(x):\n    return 3 + 0 * {number}"})
    collect(course, NAME)
    fresh, there = tmp_path / "fresh", small_disk / "course"
    shutil.copytree(course.folder, fresh)
    grade_and_report(course)
    wanted = end_state(course.folder)

    codes = Counter()
    for num_pages in range(0, 64, 8):
        shutil.copytree(fresh, there)
        disturbed = find_course(course.root, there)
        fill(small_disk, num_pages * PAGE_BYTES)
        try:
            grade_and_report(disturbed)
        except CourseKitError as error:
            codes[error.code] += 1
        (small_disk / "ballast").unlink()
        grade_and_report(disturbed)
        assert end_state(there) == wanted
        shutil.rmtree(there)
    assert set(codes) == {"course.not-writable", "gradebook.failed"}


def grade_and_report(course):
    """Do what the command does, with a judge that gives full points."""
    graded = judged(course)()
    now = datetime.now(timezone.utc)
    with clear_failures(course):
        write_page(course.report("grading", now), read_class(course, find_labs(course.root)[:1]), now, graded)


def fill(disk, num_bytes):
    """Leave so many bytes free."""
    status = os.statvfs(disk)
    (disk / "ballast").write_bytes(b"\0" * (status.f_bavail * status.f_bsize - num_bytes))


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_a_lost_database_is_a_sentence_and_loses_nothing(course, hand_in, enrol):
    """It fails before a record, or within one; the next call judges only what was never judged."""
    enrol("cyd")
    for number, student in enumerate(("ada", "bob", "cyd")):
        hand_in(student, answers={**RIGHT, "mean": f"def mean(x):\n    return 3 + 0 * {number}"})
    collect(course, NAME)
    seen, moved = Counter(), course.folder / "moved.db"

    def lose_within(*_):
        event.remove(Grade, "before_insert", lose_within)
        raise OperationalError("INSERT", {}, Exception("server closed the connection"))

    def lose(student):
        if student == "bob":
            event.listen(Grade, "before_insert", lose_within)

    with refused("server closed the connection", "[gradebook.failed]"):
        judged(course, seen, lose)()
    (course.folder / "gradebook.db").rename(moved)
    (course.folder / "gradebook.db").mkdir()
    with refused("[gradebook.unreachable]"):
        judged(course, seen)()
    (course.folder / "gradebook.db").rmdir()
    moved.rename(course.folder / "gradebook.db")
    graded = judged(course, seen)()
    outcomes = {one.verdict.student: one.outcome for one in graded}
    assert outcomes == {"ada": "as before", "bob": "as before", "cyd": "judged"}
    assert seen == dict.fromkeys(("ada", "bob", "cyd"), 1)
    assert {one.id: dict(one.points) for one in read_grades(course).students} == {key: {NAME: 3} for key in seen}
