"""The grading benchmark: a made class by `coursekit grade` and by plain `nbgrader autograde`; what the walls cost."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit.errors import CourseKitError
from coursekit.grading.judge.pool import default_num_slots
from coursekit.grading.walls.sandbox import require_sandbox
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.lecture.bench.grading_class import (
    CELL_LIMIT_S,
    copy_for_nbgrader,
    grade_with_kit,
    grade_with_nbgrader,
    made_course,
    peak_memory_gb,
)
from coursekit.lecture.bench.grading_slots import time_in_slots
from coursekit.paths import find_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.lecture.bench.grading_class import GradingRun
    from coursekit.lecture.bench.grading_slots import SlotTimes

CLASS_VARIABLE = "COURSEKIT_BENCH_CLASS"
DEFAULT_CLASS = "24 01 02 03 04"
IN_SLOTS = ("01-sgd", "02-horovod-sgd")
KIT, AGAIN, NBGRADER = "coursekit grade", "again, unchanged", "nbgrader autograde"


@dataclass(frozen=True)
class GradingMeasurement:
    """The outcome of the grading benchmark.

    Attributes:
        title: what was graded, in one line.
        num_hand_ins: of the class.
        kinds: how many of them are right, wrong, hanging and hostile.
        num_slots: of `coursekit grade`.
        cell_limit_s: what one cell may take, with either way.
        ways: by name, what it made of the class.
        peak_memory_gb: the most that one slot used, in GB of 2^30 bytes.
        slots: what the walls and a hang cost, by lab.
    """

    title: str
    num_hand_ins: int
    kinds: dict[str, int]
    num_slots: int
    cell_limit_s: float
    ways: dict[str, GradingRun]
    peak_memory_gb: float
    slots: tuple[SlotTimes, ...]

    def as_json(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        return asdict(self)


def measure_grading(repeat: int, progress: Callable[[str], None]) -> GradingMeasurement:
    """Grade one class in both ways, once, and judge solutions in warm slots in `repeat` turns.

    The class is 24 hand-ins over labs 01 to 04, or what the variable `COURSEKIT_BENCH_CLASS` says: a number of students
    and numbers of labs, as in "4 01".
    Both ways get every hand-in: also the hostile ones do no more than read files, patch their own process and leave it.

    Raises:
        CourseKitError: there is no bubblewrap, or a program failed.
    """
    root = find_root()
    num_students, names = class_size(os.environ.get(CLASS_VARIABLE, DEFAULT_CLASS))
    labs = select_labs(root, names)
    require_sandbox("bwrap", None)
    with tempfile.TemporaryDirectory(prefix="coursekit-bench-course-") as folder:
        progress(f"{num_students} hand-ins are made")
        course, made = made_course(root, labs, num_students, Path(folder) / "kit")
        plain = copy_for_nbgrader(course, Path(folder) / "nbgrader")
        ways = {}
        for way, grade, where in (
            (KIT, grade_with_kit, course),
            (AGAIN, grade_with_kit, course),
            (NBGRADER, grade_with_nbgrader, plain),
        ):
            progress(f"{way}, {num_students} hand-ins")
            ways[way] = grade(where, labs, made)
        memory_gb = peak_memory_gb(course)
    sources = build_sources(root, labs)
    slots = tuple(time_in_slots(sources[name], repeat, progress) for name in IN_SLOTS if name in sources)
    return GradingMeasurement(
        title=f"grading {num_students} hand-ins over labs {', '.join(lab.name[:2] for lab in labs)}",
        num_hand_ins=num_students,
        kinds=dict(Counter(one.kind for one in made)),
        num_slots=min(default_num_slots(), num_students),
        cell_limit_s=CELL_LIMIT_S,
        ways=ways,
        peak_memory_gb=memory_gb,
        slots=slots,
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
