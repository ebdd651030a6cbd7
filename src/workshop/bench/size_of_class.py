"""Measure the instructor's commands as a class grows; everybody hands in the same answer, which is judged once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from copy import deepcopy
from datetime import datetime, timedelta
from pathlib import Path

import nbformat

from coursekit.course.folder import Course
from coursekit.course.init import init_course
from coursekit.course.release import release
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.submission.student_folder import SECRET, TIMESTAMP, timestamp_text
from coursekit.labs.build.build import build_sources
from coursekit.labs.build.regions import without_markers
from coursekit.labs.cells import cell_name, is_solution
from coursekit.labs.lab import select_labs
from coursekit.paths import ROOT_VARIABLE, find_root
from workshop.bench.measurement import Measurement, Progress, Rows
from workshop.bench.programs import run

SIZES_VARIABLE = "COURSEKIT_BENCH_STUDENTS"
DEFAULT_SIZES = "30 300"
LAB = "01"
HANDED_IN = datetime(2026, 1, 5, 12, 0)  # noqa: DTZ001  # UTC without an offset, as nbgrader keeps times
HEAD = (
    *("one hand-in of each student, all equal", "students", "s", "CPU s", "MB of memory", "lines printed"),
    "MB of the page or table",
)
STEPS = {
    "collect": ("course", "collect", LAB),
    "grade": ("grade", LAB),
    "grade again, unchanged": ("grade", LAB),
    "status and its page": ("course", "status", LAB, "--html", "status.html"),
    "export": ("course", "export"),
    "feedback": ("course", "feedback", LAB),
    "feedback again, unchanged": ("course", "feedback", LAB),
}
LIMIT_S = 3600.0  # of one command


def measure_sizes(repeat: int, progress: Progress) -> Measurement:
    """Take a class of each size through a lab once, from the exchange to the feedback.

    The sizes are 30 and 300 students, or those that the variable `COURSEKIT_BENCH_STUDENTS` names, as in "30 3000".
    """
    del repeat
    sizes = os.environ.get(SIZES_VARIABLE, DEFAULT_SIZES).split()
    if not sizes or not all(size.isdigit() and int(size) for size in sizes):
        raise CourseKitError(f'{SIZES_VARIABLE} must be numbers of students, such as "{DEFAULT_SIZES}".', "bench.sizes")
    require_sandbox()
    of_steps: dict[str, Rows] = {step: [] for step in STEPS}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="coursekit-bench-course-") as folder:
            course = hand_in_for_all(find_root(), Path(folder), int(size))
            for step, words in STEPS.items():
                progress(f"{step}, {size} students")
                of_steps[step].append((step, size, *_measured(course, words)))
    rows = [row for rows in of_steps.values() for row in rows]
    return Measurement([HEAD, *rows])


def hand_in_for_all(root: Path, folder: Path, num_students: int) -> Course:
    """Make a course in which everybody has handed in the solution of the lab, through the exchange."""
    students = [f"student-{number:04}" for number in range(1, num_students + 1)]
    roster = folder / "roster.csv"
    roster.write_text("\n".join(["id", *students, ""]), encoding="utf-8")
    course = init_course(root, folder / "course", "bench", roster).course
    with (course.folder / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write("\nc.ExchangeCollect.check_owner = False\n")  # all files here belong to one account
    (lab,) = select_labs(root, [LAB])
    release(course, lab)
    solved = nbformat.read(build_sources(root, [lab])[lab.name], as_version=4)
    solutions = {cell_name(cell): without_markers(cell.source) for cell in solved.cells if is_solution(cell)}
    notebook = deepcopy(course.released(lab.name))
    for cell in notebook.cells:
        cell.source = solutions.get(cell_name(cell), cell.source)
    text = nbformat.writes(notebook).encode()
    for number, student in enumerate(students):
        moment = timestamp_text(HANDED_IN + timedelta(seconds=number))
        place = course.inbound / f"{student}+{lab.name}+{moment}+{number:09}"
        write_file(place / f"{lab.name}.ipynb", text)
        write_file(place / TIMESTAMP, moment.encode())
        write_file(place / SECRET, f"{number:064}".encode())
    return course


def _measured(course: Course, words: Sequence[str]) -> tuple[str, ...]:
    """Run a command of the kit to its end; return the last cells of its row."""
    argv = ["coursekit", *words, "--course", str(course.folder)]
    used = run(argv, folder=course.folder, environ={ROOT_VARIABLE: str(course.root)}, timeout_s=LIMIT_S)
    lines = used.output.splitlines()
    name = lines[-1].partition(": ")[2] if lines else ""  # the page or table that it has written
    page = f"{Path(course.folder, name).stat().st_size / 1e6:.3f}" if name.endswith((".html", ".csv")) else ""
    return f"{used.seconds:.1f}", f"{used.cpu_s:.1f}", f"{used.peak_memory_mb:.0f}", str(len(lines)), page
