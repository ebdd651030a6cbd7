"""The grading benchmark: a synthetic class by `coursekit grade`, and by nbgrader without a sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry

from coursekit.course.folder import Course, find_course
from coursekit.course.grade import VERDICTS
from coursekit.course.init import init_course
from coursekit.course.nbgrader_config import CONFIG
from coursekit.course.release import release
from coursekit.environ import kernel_environment
from coursekit.errors import CourseKitError
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.pool import default_num_slots
from coursekit.grading.verdict import Verdict
from coursekit.labs.lab import Lab, select_labs
from coursekit.paths import ROOT_VARIABLE, find_root
from coursekit.processes import end_marked
from workshop.bench.generated_class import GeneratedSubmission, generate_class
from workshop.bench.measurement import Rows

CLASS_VARIABLE = "COURSEKIT_BENCH_CLASS"
DEFAULT_CLASS = "24 01 02 03 04"
KIT, AGAIN, NBGRADER = "coursekit grade", "again, unchanged", "nbgrader autograde"
SEED = 5
CELL_LIMIT_S = 60  # what a cell may take with coursekit grade, too
DEADLINE_S = 4 * 3600.0  # of one program; nbgrader alone may need an hour
NEEDS_ANOTHER_RUN = 3


@dataclass(frozen=True)
class GradingRun:
    """What one way of grading took, from its first program's start to its last one's end, and made of the class."""

    seconds: float
    num_right: int  # hand-ins whose every test has the points that it must have


@dataclass(frozen=True)
class GradingMeasurement:
    """The outcome of the grading benchmark."""

    title: str  # what was graded, in one line
    num_hand_ins: int  # of the class
    kinds: dict[str, int]  # how many of them are right, wrong, hanging and hostile
    num_slots: int  # of `coursekit grade`
    cell_limit_s: float  # what one cell may take, with either way
    ways: dict[str, GradingRun]  # by name, what it made of the class
    peak_memory_gb: float  # the most that one slot used, in GB of 2^30 bytes


def measure_grading(repeat: int, progress: Callable[[str], None]) -> GradingMeasurement:
    """Grade one class in both ways, once, however often `repeat` says: it takes long.

    The class is 24 hand-ins over labs 01 to 04, or what the variable `COURSEKIT_BENCH_CLASS` says: a number of students
    and numbers of labs, as in "4 01".
    Both ways get every hand-in: also the hostile ones do no more than read files, patch their own process and leave it.

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
    return GradingMeasurement(
        title=f"grading {num_students} submissions of labs {', '.join(lab.name[:2] for lab in labs)}",
        num_hand_ins=num_students,
        kinds=dict(Counter(one.kind for one in made)),
        num_slots=min(default_num_slots(), num_students),
        cell_limit_s=CELL_LIMIT_S,
        ways=ways,
        peak_memory_gb=memory_gb,
    )


def class_size(text: str) -> tuple[int, list[str]]:
    """Return the number of students and the names of labs that a text such as "4 01" gives.

    Raises:
        CourseKitError: it gives none.
    """
    number, *labs = text.split() or [""]
    if not number.isdigit() or int(number) < 1 or not labs:
        raise CourseKitError(
            f'{CLASS_VARIABLE} must be a number of students and numbers of labs, such as "4 01", not {text!r}.'
        )
    return int(number), labs


def copy_for_nbgrader(course: Course, folder: Path) -> Course:
    """Copy a course that nothing was graded in, with the cell limit of `coursekit grade` for nbgrader's kernels."""
    shutil.copytree(course.folder, folder)
    with (folder / CONFIG).open("a", encoding="utf-8") as config:
        config.write(f"\nc.Execute.timeout = {CELL_LIMIT_S}\n")
    return find_course(course.root, folder)


def grade_with_kit(course: Course, labs: Sequence[Lab], made: Sequence[GeneratedSubmission]) -> GradingRun:
    """Grade a course as `coursekit grade` does with its defaults; a second call finds nothing to judge."""
    words = ["coursekit", "grade", *(lab.name for lab in labs), "--course", str(course.folder)]
    seconds = _run(course, words, clean=(0, NEEDS_ANOTHER_RUN))
    return GradingRun(seconds, _num_right(course, made))


def grade_with_nbgrader(course: Course, labs: Sequence[Lab], made: Sequence[GeneratedSubmission]) -> GradingRun:
    """Grade a course as `nbgrader autograde` does: one submission after the other, without a sandbox."""
    # It ends with 1 when it could not grade a submission; that is counted below.
    seconds = sum(_run(course, ["nbgrader", "autograde", lab.name, "--create"], clean=(0, 1)) for lab in labs)
    if not list((course.folder / "autograded").glob("*/*/*.ipynb")):
        raise CourseKitError("nbgrader graded nothing at all: run `coursekit doctor` to see why.")
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
            raise CourseKitError(f"{' '.join(words[:2])} failed; its last output:\n{log.read().strip()[-2000:]}")
    return seconds


def _num_right(course: Course, made: Sequence[GeneratedSubmission]) -> int:
    with course.gradebook() as gradebook:
        return sum(is_right(_points(gradebook, one), one) for one in made)


def _points(gradebook: Any, made: GeneratedSubmission) -> dict[str, tuple[float | None, float]]:
    """Return by test its points, None where nobody gave any, and the most that there are."""
    try:
        notebook = gradebook.find_submission_notebook(made.lab, made.lab, made.student)
    except MissingEntry:
        return {}
    return {grade.name: (grade.auto_score, grade.max_score) for grade in notebook.grades}


def is_right(points: Mapping[str, tuple[float | None, float]], made: GeneratedSubmission) -> bool:
    """Return whether the tests that must pass got all their points, and those that must fail got a 0."""
    won = all(name in points and points[name][0] == points[name][1] for name in made.passes)
    return won and all(name in points and points[name][0] == 0 for name in made.fails)


def class_rows(measured: dict[str, Any]) -> Rows:
    """Return the ways to grade the class, with the speed of each against the last, which is nbgrader's."""
    num = measured["num_hand_ins"]
    *_, slowest = measured["ways"].values()
    memory = f"{measured['peak_memory_gb']:.1f}"
    rows: Rows = [(measured["title"], "total s", "per minute", "right verdicts", "times as fast", "GB per slot")]
    for name, graded in measured["ways"].items():
        seconds = graded["seconds"]
        measures = (f"{seconds:.0f}", f"{60 * num / seconds:.1f}", f"{graded['num_right']} of {num}")
        rows.append((name, *measures, f"{slowest['seconds'] / seconds:.1f}", memory if len(rows) == 1 else ""))
    return rows


def remarks(measured: dict[str, Any]) -> list[str]:
    """Return sentences on the class and on how it was graded."""
    kinds = ", ".join(f"{num} {kind}" for kind, num in measured["kinds"].items())
    return [
        f"The class: {kinds}; both graders allow a cell {measured['cell_limit_s']:g} s.",
        f"`coursekit grade` grades {measured['num_slots']} at a time, in bubblewrap; the time includes its start.",
        "nbgrader has the kit's settings but no sandbox, and grades one submission after the other.",
        "A submission without a grade counts as a wrong verdict.",
    ]
