"""What an instructor's commands take as a class grows: one answer, handed in by everybody, which is judged once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

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
from workshop.bench.measurement import Rows

SIZES_VARIABLE = "COURSEKIT_BENCH_STUDENTS"
DEFAULT_SIZES = "30 300"
LAB = "01"
HANDED_IN = datetime(2026, 1, 5, 12, 0)  # noqa: DTZ001  # UTC without an offset, as nbgrader keeps times
STEPS = {
    "collect": ("course", "collect", LAB),
    "grade": ("grade", LAB),
    "grade again, unchanged": ("grade", LAB),
    "status and its page": ("course", "status", LAB, "--html", "status.html"),
    "export": ("course", "export"),
    "feedback": ("course", "feedback", LAB),
    "feedback again, unchanged": ("course", "feedback", LAB),
}
# In a small process of its own: for Linux, a command's peak memory is at least that of the process that starts it.
RUN = """
import json, resource, subprocess, sys, time
begin = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
seconds = time.perf_counter() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu_s, peak_memory_mb = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6
print(json.dumps([done.returncode, seconds, cpu_s, peak_memory_mb, done.stdout.decode(errors="replace")]))
"""


@dataclass(frozen=True)
class Step:
    """What one command took, and what it left for a person."""

    seconds: float
    cpu_s: float  # of all its processes
    peak_memory_mb: float  # of the largest one, in 10^6 bytes
    num_lines: int  # that it printed
    page_mb: float  # the page that it wrote; 0 for none


@dataclass(frozen=True)
class SizeMeasurement:
    """By command and number of students what it took."""

    title: str
    steps: dict[str, dict[str, Step]]


def measure_sizes(repeat: int, progress: Callable[[str], None]) -> SizeMeasurement:
    """Take a class of each size through a lab once, from the exchange to its feedback.

    The sizes are 30 and 300 students, or those that the variable `COURSEKIT_BENCH_STUDENTS` names, as in "30 3000".
    """
    del repeat
    sizes = os.environ.get(SIZES_VARIABLE, DEFAULT_SIZES).split()
    if not sizes or not all(size.isdigit() and int(size) for size in sizes):
        raise CourseKitError(f'{SIZES_VARIABLE} must be numbers of students, such as "{DEFAULT_SIZES}".')
    require_sandbox()
    steps: dict[str, dict[str, Step]] = {step: {} for step in STEPS}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="coursekit-bench-course-") as folder:
            course = hand_in_for_all(find_root(), Path(folder), int(size))
            for step, words in STEPS.items():
                progress(f"{step}, {size} students")
                steps[step][size] = _measured(course, words)
    return SizeMeasurement("one hand-in of each student, all equal", steps)


def hand_in_for_all(root: Path, folder: Path, num_students: int) -> Course:
    """Make a course in which everybody has handed in the solution of the lab, through the exchange."""
    students = [f"student-{number:04}" for number in range(1, num_students + 1)]
    roster = folder / "roster.csv"
    roster.write_text("\n".join(["id", *students, ""]), encoding="utf-8")
    course = init_course(root, folder / "course", "bench", roster).course
    with (course.folder / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write("\nc.ExchangeCollect.check_owner = False\n")  # all files here are of one account
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


def _measured(course: Course, words: Sequence[str]) -> Step:
    """Run a command of the kit to its end."""
    argv = [sys.executable, "-m", "coursekit", *words, "--course", str(course.folder)]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", RUN, *argv],
        cwd=course.folder,
        env={**os.environ, ROOT_VARIABLE: str(course.root)},
        capture_output=True,
        text=True,
        check=True,
    )
    status, seconds, cpu_s, peak_memory_mb, text = json.loads(done.stdout)
    if status:
        raise CourseKitError(f"coursekit {' '.join(words)} failed; it said:\n{text[-2000:]}")
    return Step(seconds, cpu_s, peak_memory_mb, len(text.splitlines()), _page_mb(course, text))


def _page_mb(course: Course, text: str) -> float:
    """Return the size of the page that a command's last line names, or 0."""
    name = text.strip().rpartition("\n")[2].partition(": ")[2]
    return Path(course.folder, name).stat().st_size / 1e6 if name.endswith((".html", ".csv")) else 0.0


def size_rows(measured: dict[str, Any]) -> Rows:
    """Return a row for each command and size of the class."""
    rows: Rows = [
        (measured["title"], "students", "s", "CPU s", "MB of memory", "lines printed", "MB of the page or table")
    ]
    for step, sizes in measured["steps"].items():
        for size, one in sizes.items():
            page = f"{one['page_mb']:.3f}" if one["page_mb"] else ""
            numbers = (
                f"{one['seconds']:.1f}",
                f"{one['cpu_s']:.1f}",
                f"{one['peak_memory_mb']:.0f}",
                str(one["num_lines"]),
            )
            rows.append((step, size, *numbers, page))
    return rows
