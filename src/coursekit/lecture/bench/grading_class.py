"""One made class graded as a whole: by `coursekit grade`, and by nbgrader with the kit's settings and no sandbox."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.api import MissingEntry

from coursekit.course.folder import find_course
from coursekit.course.grade import VERDICTS
from coursekit.course.init import init_course
from coursekit.course.nbgrader_config import CONFIG
from coursekit.course.release import release
from coursekit.errors import CourseKitError
from coursekit.grading.verdict import Verdict
from coursekit.lecture.bench.made_class import make_class
from coursekit.paths import ROOT_VARIABLE
from coursekit.processes import end_marked
from coursekit.ranks.environ import kernel_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coursekit.course.folder import Course
    from coursekit.labs.lab import Lab
    from coursekit.lecture.bench.made_class import MadeHandIn

SEED = 5
CELL_LIMIT_S = 60  # what a cell may take with coursekit grade, too
DEADLINE_S = 4 * 3600.0  # of one program; nbgrader alone may need an hour
NEEDS_ANOTHER_RUN = 3


@dataclass(frozen=True)
class GradingRun:
    """What one way of grading took, from its first program's start to its last one's end, and made of the class."""

    seconds: float
    num_right: int  # hand-ins whose every test has the points that it must have


def made_course(root: Path, labs: Sequence[Lab], num_students: int, folder: Path) -> tuple[Course, list[MadeHandIn]]:
    """Make a course in `folder` with labs released and one hand-in for each student."""
    course = init_course(root, folder, "bench", None, None).course
    for lab in labs:
        release(course, lab)
    return course, list(make_class(course, num_students, SEED, [lab.name for lab in labs]))


def copy_for_nbgrader(course: Course, folder: Path) -> Course:
    """Copy a course that nothing was graded in, with the cell limit of `coursekit grade` for nbgrader's kernels."""
    shutil.copytree(course.folder, folder)
    with (folder / CONFIG).open("a", encoding="utf-8") as config:
        config.write(f"\nc.Execute.timeout = {CELL_LIMIT_S}\n")
    return find_course(course.root, folder)


def grade_with_kit(course: Course, labs: Sequence[Lab], made: Sequence[MadeHandIn]) -> GradingRun:
    """Grade a course as `coursekit grade` does with its defaults; a second call finds nothing to judge."""
    words = ["coursekit", "grade", *(lab.name for lab in labs), "--course", str(course.folder)]
    seconds = _run(course, words, clean=(0, NEEDS_ANOTHER_RUN))
    return GradingRun(seconds, _num_right(course, made))


def grade_with_nbgrader(course: Course, labs: Sequence[Lab], made: Sequence[MadeHandIn]) -> GradingRun:
    """Grade a course as `nbgrader autograde` does: one hand-in after the other, each in a kernel without walls."""
    # It ends with 1 when it could not grade somebody; that is counted below.
    seconds = sum(_run(course, ["nbgrader", "autograde", lab.name, "--create"], clean=(0, 1)) for lab in labs)
    if not list((course.folder / "autograded").glob("*/*/*.ipynb")):
        raise CourseKitError("nbgrader graded nothing at all: see why with `coursekit doctor`.")
    return GradingRun(seconds, _num_right(course, made))


def peak_memory_gb(course: Course) -> float:
    """Return the most memory that a slot of `coursekit grade` used, in GB of 2^30 bytes."""
    paths = (course.folder / VERDICTS).rglob("*.json")
    return max((Verdict.loads(path.read_text(encoding="utf-8")).peak_memory_gb for path in paths), default=0.0)


def _run(course: Course, words: Sequence[str], clean: tuple[int, ...]) -> float:
    """Run a program of this environment in the course folder; return its seconds, and leave nothing of it behind."""
    with tempfile.TemporaryDirectory(prefix="coursekit-bench-") as home, tempfile.TemporaryFile("w+") as log:
        environ = {**kernel_environment(Path(home)), ROOT_VARIABLE: str(course.root)}
        begin = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=course.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(DEADLINE_S)
            seconds = time.perf_counter() - begin
        except subprocess.TimeoutExpired:
            raise CourseKitError(f"{' '.join(words[:2])} took longer than {DEADLINE_S / 3600:g} h.") from None
        finally:
            end_marked(Path(home))
            process.wait()
        if process.returncode not in clean:
            log.seek(0)
            raise CourseKitError(f"{' '.join(words[:2])} failed; it said last:\n{log.read().strip()[-2000:]}")
    return seconds


def _num_right(course: Course, made: Sequence[MadeHandIn]) -> int:
    with course.gradebook() as gradebook:
        return sum(is_right(_points(gradebook, one), one) for one in made)


def _points(gradebook: Any, made: MadeHandIn) -> dict[str, tuple[float | None, float]]:
    """Return by test its points, None where nobody gave any, and the most that there are."""
    try:
        notebook = gradebook.find_submission_notebook(made.lab, made.lab, made.student)
    except MissingEntry:
        return {}
    return {grade.name: (grade.auto_score, grade.max_score) for grade in notebook.grades}


def is_right(points: Mapping[str, tuple[float | None, float]], made: MadeHandIn) -> bool:
    """Return whether the tests that must pass got all their points, and those that must fail got a 0."""
    won = all(name in points and points[name][0] == points[name][1] for name in made.passes)
    return won and all(name in points and points[name][0] == 0 for name in made.fails)
