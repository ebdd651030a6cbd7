"""The grading benchmark: a synthetic class, graded by `coursekit grade` and by nbgrader without a sandbox."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nbgrader.api import MissingEntry

from coursekit.course.folder import Course, find_course
from coursekit.course.grade import VERDICTS
from coursekit.course.init import init_course
from coursekit.course.nbgrader_config import CONFIG
from coursekit.course.release import release
from coursekit.errors import CourseKitError
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.pool import default_num_slots
from coursekit.grading.verdict import Verdict
from coursekit.labs.lab import Lab, select_labs
from coursekit.paths import ROOT_VARIABLE, find_root
from workshop.bench.generated_class import GeneratedSubmission, generate_class
from workshop.bench.measurement import Measurement, Progress, Rows
from workshop.bench.programs import run

CLASS_VARIABLE = "COURSEKIT_BENCH_CLASS"
DEFAULT_CLASS = "24 01 02 03 04"
KIT, AGAIN, NBGRADER = "coursekit grade", "again, unchanged", "nbgrader autograde"
SEED = 5
CELL_LIMIT_S = 60  # also the limit of a cell with coursekit grade
DEADLINE_S = 4 * 3600.0  # of one program; nbgrader alone may need an hour
NEEDS_ANOTHER_RUN = 3


class GradingRun(NamedTuple):
    """The time of one way of grading, from its first program's start to its last one's end, and its right verdicts."""

    seconds: float
    num_right: int  # hand-ins in which every test has the right points


def measure_grading(repeat: int, progress: Progress) -> Measurement:
    """Grade one class in both ways, only once, because it takes long; `repeat` is ignored.

    The class is 24 hand-ins over labs 01 to 04, or as the variable `COURSEKIT_BENCH_CLASS` says: a number of students
    and the numbers of labs, as in "4 01".
    Both ways get every hand-in: even the hostile ones only read files, patch their own process, and exit from it.

    Raises:
        CourseKitError: there is no bubblewrap, or a program failed.
    """
    del repeat
    root = find_root()
    num_students, names = class_size(os.environ.get(CLASS_VARIABLE, DEFAULT_CLASS))
    labs = select_labs(root, names)
    require_sandbox()
    with tempfile.TemporaryDirectory(prefix="coursekit-bench-course-") as folder:
        progress(f"writing {num_students} submissions")
        course = init_course(root, Path(folder) / "kit", "bench", None).course
        for lab in labs:
            release(course, lab)
        made = generate_class(course, num_students, SEED, [lab.name for lab in labs])
        plain = copy_for_nbgrader(course, Path(folder) / "nbgrader")
        ways = {}
        for way, grade, where in (
            (KIT, grade_with_kit, course),
            (AGAIN, grade_with_kit, course),
            (NBGRADER, grade_with_nbgrader, plain),
        ):
            progress(f"{way}, {num_students} submissions")
            ways[way] = grade(where, labs, made)
        memory_gb = peak_memory_gb(course)
    kinds = ", ".join(f"{num} {kind}" for kind, num in Counter(one.kind for one in made).items())
    at_a_time = min(default_num_slots(), num_students)
    remarks = (
        f"The class: {kinds}; both graders allow a cell {CELL_LIMIT_S} s.",
        f"`coursekit grade` grades {at_a_time} at a time, in bubblewrap; the time includes its start.",
        "nbgrader has the kit's settings but no sandbox, and grades one submission after the other.",
        "A submission without a grade counts as a wrong verdict.",
    )
    title = f"grading {num_students} submissions of labs {', '.join(lab.name[:2] for lab in labs)}"
    return Measurement(class_rows(title, num_students, ways, memory_gb), remarks)


def class_rows(title: str, num: int, ways: Mapping[str, GradingRun], memory_gb: float) -> Rows:
    """Return a table of the ways to grade this many hand-ins, with speeds relative to the last way, nbgrader's."""
    *_, slowest = ways.values()
    rows: Rows = [(title, "total s", "per minute", "right verdicts", "times as fast", "GB per slot")]
    for name, graded in ways.items():
        measures = (f"{graded.seconds:.0f}", f"{60 * num / graded.seconds:.1f}", f"{graded.num_right} of {num}")
        memory = f"{memory_gb:.1f}" if name == KIT else ""
        rows.append((name, *measures, f"{slowest.seconds / graded.seconds:.1f}", memory))
    return rows


def class_size(text: str) -> tuple[int, list[str]]:
    """Return the number of students and the names of labs that a text such as "4 01" gives.

    Raises:
        CourseKitError: it gives none.
    """
    number, *labs = text.split() or [""]
    if not number.isdigit() or int(number) < 1 or not labs:
        raise CourseKitError(
            f'{CLASS_VARIABLE} must be a number of students and numbers of labs, such as "4 01", not {text!r}.',
            "bench.class-size",
        )
    return int(number), labs


def copy_for_nbgrader(course: Course, folder: Path) -> Course:
    """Copy an ungraded course, and give nbgrader's kernels the cell limit of `coursekit grade`."""
    shutil.copytree(course.folder, folder)
    with (folder / CONFIG).open("a", encoding="utf-8") as config:
        config.write(f"\nc.Execute.timeout = {CELL_LIMIT_S}\n")
    return find_course(course.root, folder)


def grade_with_kit(course: Course, labs: Sequence[Lab], made: Sequence[GeneratedSubmission]) -> GradingRun:
    """Grade a course as `coursekit grade` does with its defaults; a second call finds nothing to judge."""
    words = ["coursekit", "grade", *(lab.name for lab in labs), "--course", str(course.folder)]
    return GradingRun(_seconds(course, words, good=(0, NEEDS_ANOTHER_RUN)), _num_right(course, made))


def grade_with_nbgrader(course: Course, labs: Sequence[Lab], made: Sequence[GeneratedSubmission]) -> GradingRun:
    """Grade a course as `nbgrader autograde` does: one submission after the other, without a sandbox."""
    # It ends with 1 if it could not grade a submission; such failures are counted below.
    seconds = sum(_seconds(course, ["nbgrader", "autograde", lab.name, "--create"], good=(0, 1)) for lab in labs)
    if not list((course.folder / "autograded").glob("*/*/*.ipynb")):
        raise CourseKitError(
            "nbgrader graded nothing at all: run `coursekit doctor` to see why.", "bench.nothing-graded"
        )
    return GradingRun(seconds, _num_right(course, made))


def _seconds(course: Course, words: Sequence[str], good: Sequence[int]) -> float:
    environ = {ROOT_VARIABLE: str(course.root)}
    return run(words, folder=course.folder, environ=environ, timeout_s=DEADLINE_S, good=good).seconds


def peak_memory_gb(course: Course) -> float:
    """Return the most memory that a slot of `coursekit grade` used, in GB of 2^30 bytes."""
    paths = (course.folder / VERDICTS).rglob("*.json")
    return max((Verdict.loads(path.read_text(encoding="utf-8")).peak_memory_gb for path in paths), default=0.0)


def _num_right(course: Course, made: Sequence[GeneratedSubmission]) -> int:
    with course.gradebook() as gradebook:
        return sum(is_right(_points(gradebook, one), one) for one in made)


def _points(gradebook: Any, made: GeneratedSubmission) -> dict[str, tuple[float | None, float]]:
    """Return the points of each test, None if there are none, and its maximum."""
    try:
        notebook = gradebook.find_submission_notebook(made.lab, made.lab, made.student)
    except MissingEntry:
        return {}
    return {grade.name: (grade.auto_score, grade.max_score) for grade in notebook.grades}


def is_right(points: Mapping[str, tuple[float | None, float]], made: GeneratedSubmission) -> bool:
    """Return whether the tests that must pass got all their points, and those that must fail got 0."""
    won = all(name in points and points[name][0] == points[name][1] for name in made.passes)
    return won and all(name in points and points[name][0] == 0 for name in made.fails)
