"""The report of grading: a table for the terminal, one self-contained page and JSON for the instructor alone."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from coursekit.course.grade import EMPTY, FAULT
from coursekit.course.report.properties import NUMBER, describe, draw, properties
from coursekit.course.report.spread import draw_spread, needs_help, points_words
from coursekit.files import write_file
from coursekit.grading.submission.times import shown
from coursekit.pages import page_template
from coursekit.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from coursekit.course.folder import Course
    from coursekit.course.grade import GradedHandIn
    from coursekit.grading.verdict import Flag

SCHEMA = 1
NUM_SLOWEST = 5
NUM_CHARACTERS = 2000  # of what a cell printed
NO_SANDBOX = "none"


def print_report(graded: Sequence[GradedHandIn], console: Console) -> None:
    """Print points, flags and seconds of each student and lab, sorted by these, and what needs attention."""
    console.print(headline(graded), style="bold", highlight=False)
    console.print(_table(graded))
    for those in by_cause(graded):
        whose = ", ".join(f"{one.hand_in.student} {one.hand_in.lab}" for one in those)
        line = printable(f"{those[0].outcome}: {whose}: {reason(those[0])}").replace("\n", " ")
        console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    if any(one.verdict.sandbox == NO_SANDBOX for one in graded):
        words = "there was NO SANDBOX: what was handed in ran with your rights."
        console.print(words, style="bold red", highlight=False)
    weak = needs_help(graded)
    if weak:
        words = ", ".join(f"{one.hand_in.student} {one.hand_in.lab} {points_words(one)}" for one in weak)
        line = printable(f"less than half of the points: {words}")
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    slow = slowest(graded)
    if slow:
        words = ", ".join(f"{one.hand_in.student} {one.hand_in.lab} {one.verdict.seconds:.1f} s" for one in slow)
        console.print(printable(f"slowest: {words}"), markup=False, highlight=False, soft_wrap=True)
    worst = max(properties(graded), key=lambda one: one.num_missed, default=None)
    if worst and worst.num_missed:
        words = f"most often failed: {worst.name} of {worst.lab}, {worst.num_missed} of {worst.num_graded}"
        console.print(words, markup=False, highlight=False, soft_wrap=True)


def headline(graded: Sequence[GradedHandIn]) -> str:
    """Return what happened: "3 hand-ins of 2 students: 1 graded, 1 needs another run, 1 with nothing to grade"."""
    num = Counter(one.outcome for one in graded)
    parts = [f"{len(graded) - num[FAULT] - num[EMPTY]} graded"]
    parts += [f"{num[FAULT]} need{'s' * (num[FAULT] == 1)} another run"] if num[FAULT] else []
    parts += [f"{num[EMPTY]} with nothing to grade"] if num[EMPTY] else []
    students = counted(len({one.hand_in.student for one in graded}), "student")
    return f"{counted(len(graded), 'hand-in')} of {students}: {', '.join(parts)}"


def reason(one: GradedHandIn) -> str:
    """Return why a hand-in has no points."""
    return one.verdict.fault or "; ".join(one.notes)


def cause(one: GradedHandIn) -> tuple[str, str]:
    """Return what hand-ins without points share that have the same cause; numbers differ from run to run."""
    return one.outcome, NUMBER.sub("#", reason(one)) if one.outcome in {FAULT, EMPTY} else ""


def by_cause(graded: Sequence[GradedHandIn]) -> list[list[GradedHandIn]]:
    """Return the hand-ins without points, those with one cause together; what needs another run comes first."""
    found: dict[tuple[str, str], list[GradedHandIn]] = {}
    for outcome in (FAULT, EMPTY):
        for one in (one for one in graded if one.outcome == outcome):
            found.setdefault(cause(one), []).append(one)
    return list(found.values())


def flag_words(flags: Sequence[Flag]) -> str:
    """Return how many flags there are, and their kinds: "3 flags: owner, time"."""
    return f"{counted(len(flags), 'flag')}: {', '.join(dict.fromkeys(flag.kind for flag in flags))}"


def _table(graded: Sequence[GradedHandIn]) -> Table:
    labs = sorted({one.hand_in.lab for one in graded})
    table = Table("student", *labs, title="Points, flags, seconds", title_justify="left")
    for student, group in groupby(graded, key=lambda one: one.hand_in.student):
        cells = {one.hand_in.lab: _cell(one) for one in group}
        table.add_row(escape(printable(student)), *(cells.get(lab, "") for lab in labs))
    return table


def _cell(one: GradedHandIn) -> str:
    verdict = one.verdict
    if one.outcome in {FAULT, EMPTY}:
        return f"[red]{one.outcome}[/]"
    flags = f" [yellow]{escape(printable(flag_words(verdict.flags)))}[/]" if verdict.flags else ""
    return f"{verdict.points:g}/{verdict.max_points:g}{flags} {verdict.seconds:.1f} s"


def slowest(graded: Sequence[GradedHandIn]) -> list[GradedHandIn]:
    """Return the hand-ins that took longest in this call, the slowest first."""
    ran = [one for one in graded if not one.is_cached and one.verdict.scores]
    return sorted(ran, key=lambda one: -one.verdict.seconds)[:NUM_SLOWEST]


def write_report(course: Course, graded: Sequence[GradedHandIn]) -> Path:
    """Write a page and a JSON file into the course's `reports/`, each whole or not at all; return the page's path.

    What was graded is sorted by student and lab.
    """
    now = datetime.now().astimezone()
    page = course.report("grading", now)
    record = to_json(course, graded, now)
    write_file(page.with_suffix(".json"), (json.dumps(record, indent=1) + "\n").encode())
    write_file(page, render(course, graded, now).encode("utf-8", "replace"))
    return page


def to_json(course: Course, graded: Sequence[GradedHandIn], now: datetime) -> dict[str, Any]:
    """Return the report as JSON values; what cells printed is not among them."""
    return {
        "schema": SCHEMA,
        "course": course.settings.name,
        "written": now.isoformat(timespec="seconds"),
        "hand_ins": [_hand_in_to_json(one) for one in graded],
        "properties": [
            {
                "lab": one.lab,
                "name": one.name,
                "max_points": one.max_points,
                "num_passed": one.num_graded - one.num_missed,
                "num_failed": one.num_missed,
                "example": one.example,
                "num_alike": one.num_alike,
            }
            for one in properties(graded)
        ],
    }


def _hand_in_to_json(one: GradedHandIn) -> dict[str, Any]:
    verdict = {key: value for key, value in asdict(one.verdict).items() if key != "outputs"}
    timestamp = one.hand_in.timestamp
    return {
        **verdict,
        "outcome": one.outcome,
        "points": one.verdict.points,
        "max_points": one.verdict.max_points,
        "notes": one.notes,
        "handed_in": timestamp.isoformat() if timestamp else None,
        "jobs": [asdict(job) for job in one.hand_in.jobs],
    }


def render(course: Course, graded: Sequence[GradedHandIn], now: datetime) -> str:
    """Return the page: all text escaped, and without control characters."""
    by_lab = {lab: list(group) for lab, group in groupby(properties(graded), key=lambda one: one.lab)}
    here = Path(__file__).parent
    return page_template("grade_report.html.j2", here, here.parent, shown=shown).render(
        course=course.settings.name,
        written=f"{now:%Y-%m-%d %H:%M:%S %Z}",
        graded=graded,
        students=[(name, list(group)) for name, group in groupby(graded, key=lambda one: one.hand_in.student)],
        labs=sorted({one.hand_in.lab for one in graded}),
        headline=headline(graded),
        attention=[(reason(those[0]), those) for those in by_cause(graded)],
        spread={lab: draw_spread(lab, graded) for lab in by_lab},
        weak=needs_help(graded),
        flag_words=flag_words,
        flagged=[one for one in graded if one.verdict.flags],
        slowest=slowest(graded),
        properties=by_lab,
        pictures={lab: draw(found, describe(found), ("passed", "failed")) for lab, found in by_lab.items()},
        sandboxes=sorted({one.verdict.sandbox for one in graded}),
        no_sandbox=NO_SANDBOX,
        special=(FAULT, EMPTY),
        num_characters=NUM_CHARACTERS,
    )
