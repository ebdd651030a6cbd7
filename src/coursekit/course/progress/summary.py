"""The numbers and sentences about a class that terminal and page both show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.course.progress.progress import STEPS
from coursekit.text import counted, first_few

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coursekit.course.progress.progress import ClassProgress, LabProgress, StudentProgress

LETTERS = "FRHG"  # one for each of STEPS
NOT_YET, UNKNOWN = "·", "?"


@dataclass(frozen=True)
class Count:
    """How many students did something, and of how many that is not known."""

    num_yes: int
    num_unknown: int = 0

    def __str__(self) -> str:
        return f"{self.num_yes} + {self.num_unknown}{UNKNOWN}" if self.num_unknown else f"{self.num_yes}"


def counts(found: ClassProgress, lab: LabProgress) -> dict[str, Count]:
    """Return for each step, and for what follows grading, how many of the counted students have done it."""
    progress = [lab.progress[member.id] for member in found.counted]
    columns = {step: [one.steps[i] for one in progress] for i, step in enumerate(STEPS)}
    return {
        **{step: Count(column.count(True), column.count(None)) for step, column in columns.items()},
        "to do by hand": Count(sum(one.waits for one in progress)),
        "feedback": Count(sum(one.has_feedback for one in progress)),
    }


def mean_points(found: ClassProgress, lab: LabProgress) -> float | None:
    """Return the mean of the graded students who count; None if there are none."""
    points = [one.points for member in found.counted if (one := lab.progress[member.id]).points is not None]
    return sum(point or 0.0 for point in points) / len(points) if points else None


def marks(progress: StudentProgress) -> str:
    """Return a character for each of `STEPS`: its letter, `NOT_YET` or `UNKNOWN`."""
    return "".join(
        UNKNOWN if done is None else letter if done else NOT_YET for letter, done in zip(LETTERS, progress.steps)
    )


def legend(found: ClassProgress) -> tuple[str, ...]:
    """Return what the marks mean, and where they were looked for."""
    letters = ", ".join(f"{letter} {step}" for letter, step in zip(LETTERS, STEPS))
    where = f"here, and in {found.homes}" if found.homes else "here"
    return (
        f"{letters}; {NOT_YET} nothing of it lies {where}; {UNKNOWN} not known.",
        "nbgrader records no fetch and no run: a hand-in tells of both, as does a notebook in a home (`--homes`).",
    )


def notes(found: ClassProgress) -> tuple[str, ...]:
    """Return one sentence for each thing that an instructor should know about these numbers, or do."""
    return tuple(_about_class(found)) + tuple(sentence for lab in found.labs for sentence in _about_lab(found, lab))


def _about_class(found: ClassProgress) -> Iterator[str]:
    if not found.members:
        yield "Nobody is known yet: `coursekit course init --roster FILE` puts students onto the roster."
    elif not found.has_roster:
        yield "The course has no roster: who never handed in and is not in the gradebook is missing here."
    others = [member.label for member in found.members if not member.is_counted]
    if others:
        yield f"Not on the roster, shown at the end and not counted: {first_few(others)}."
    if found.num_dark:
        yield (
            f"{found.num_dark} of {len(found.members)} students have no home in {found.homes} that may be read: "
            "what it would tell is not known."
        )


def _about_lab(found: ClassProgress, lab: LabProgress) -> Iterator[str]:
    name = lab.lab.name
    if not lab.is_released:
        yield f"{name} was never released: `coursekit course release {name[:2]}`."
    num_new = sum(lab.progress[member.id].num_new > 0 for member in found.members)
    if num_new:
        whose = counted(num_new, "student")
        yield f"{name}: new hand-ins of {whose} lie in the exchange: `coursekit course collect {name[:2]}`."
    if lab.num_former:
        many = f"{lab.num_former} hand-ins still count as they were"
        still = many if lab.num_former > 1 else "1 hand-in still counts as it was"
        yield f"{name}: tests or points changed after grading, and {still} graded: `coursekit grade {name[:2]}`."
