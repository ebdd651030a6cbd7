"""The class in a terminal and as one self-contained page, and what a call of `coursekit grade` adds: its hand-ins."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coursekit.course.folder import Course
from coursekit.course.grade import EMPTY, FAULT, GradedHandIn
from coursekit.course.status.class_status import ClassStatus, LabStatus, State
from coursekit.course.status.missed import NUMBER
from coursekit.files import write_file
from coursekit.grading.submission.student_folder import shown
from coursekit.grading.verdict import Flag
from coursekit.pages import page_template
from coursekit.text import counted, printable

SCHEMA = 2
NUM_CHARACTERS = 2000  # of what a cell printed
NUM_WORST = 5
NUM_BLOCKS = 12
LEGEND = "l late, b waits for points by hand, r has changed and needs a run, n has a new version, f has feedback."


def print_class(found: ClassStatus, console: Console) -> None:
    """Print where a class stands; no text of a student acts as markup or moves the cursor."""
    console.print(_labs(found))
    if (found.roster or found.others) and not found.is_anonymous:
        console.print(_students(found))
        console.print(LEGEND, style="dim", markup=False, highlight=False)
    for lab in found.labs:
        if any(one.num_missed for one in lab.missed):
            console.print(_worst(lab))
    for line in found.notes:
        console.print(Text(f"! {printable(line)}", style="yellow"), soft_wrap=True)


def _table(title: str, *headings: str) -> Table:
    """Return a table whose first column stays whole."""
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), title=title or None, title_justify="left")
    for i, heading in enumerate(headings):
        table.add_column(heading, no_wrap=not i)
    return table


def _labs(found: ClassStatus) -> Table:
    # A column for each lab, as so many counts beside one another fit no terminal of 80 columns.
    title = f"{printable(found.course)}: {counted(len(found.roster), 'student')}"
    table = _table(title, "", *(lab.lab.name for lab in found.labs))
    for heading, texts in found.rows.items():
        table.add_row(heading, *texts)
    return table


def _students(found: ClassStatus) -> Table:
    table = _table("", "student", *(lab.lab.name for lab in found.labs))
    for student in (*found.roster, *found.others):
        name = Text(printable(student), style="" if student in found.roster else "dim")
        table.add_row(name, *(_cell(lab, student) for lab in found.labs))
    return table


def _cell(lab: LabStatus, student: str) -> Text:
    one = lab.students[student]
    if one.state is State.GRADED:
        cell = Text(f"{one.points:g}/{lab.max_points:g}")
    else:
        cell = Text(one.state.value, style="red" if one.is_damaged else "dim")
    if one.marks:
        cell.append(f" {''.join(mark[0] for mark in one.marks)}", style="yellow")
    return cell


def _worst(lab: LabStatus) -> Table:
    table = _table(f"{lab.lab.name}, to explain again", "missed", "", "property", "section")
    for one in [one for one in lab.missed if one.num_missed][:NUM_WORST]:
        num_full = max(1, round(one.share * NUM_BLOCKS))
        bar = "█" * num_full + "░" * (NUM_BLOCKS - num_full)
        row = (f"{one.num_missed} of {one.num_graded}", bar, one.title, one.section)
        table.add_row(*(Text(printable(text)) for text in row))
    return table


def print_call(graded: Sequence[GradedHandIn], console: Console) -> None:
    """Print what came of a call's hand-ins: how many, and what needs attention."""
    console.print(headline(graded), style="bold", highlight=False)
    for those in by_cause(graded):
        whose = ", ".join(f"{one.hand_in.student} {one.hand_in.lab}" for one in those)
        line = printable(f"{those[0].outcome}: {whose}: {reason(those[0])}").replace("\n", " ")
        console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)


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


def write_report(course: Course, found: ClassStatus, graded: Sequence[GradedHandIn]) -> Path:
    """Write a page and a JSON file into the course's `reports/`, each whole or not at all; return the page's path.

    What was graded is sorted by student and lab.
    """
    now = datetime.now().astimezone()
    page = course.report("grading", now)
    write_file(page.with_suffix(".json"), (json.dumps(to_json(found, graded, now), indent=1) + "\n").encode())
    write_page(page, found, now, graded)
    return page


def to_json(found: ClassStatus, graded: Sequence[GradedHandIn], now: datetime) -> dict[str, Any]:
    """Return the report as JSON values; what cells printed is not among them."""
    return {
        "schema": SCHEMA,
        "course": found.course,
        "written": now.isoformat(timespec="seconds"),
        "hand_ins": [_hand_in_to_json(one) for one in graded],
        "properties": [asdict(one) for lab in found.labs for one in lab.missed],
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


def write_page(path: Path, found: ClassStatus, now: datetime, graded: Sequence[GradedHandIn] = ()) -> None:
    """Write the page, whole or not at all, readable by its owner alone; `now` has a time zone."""
    write_file(path, render(found, now, graded).encode("utf-8", "replace"))


def render(found: ClassStatus, now: datetime, graded: Sequence[GradedHandIn] = ()) -> str:
    """Return the page: all text escaped, and without control characters."""
    return page_template("page.html.j2", Path(__file__).parent, shown=shown).render(
        found=found,
        title=headline(graded) if graded else f"Class of {counted(len(found.roster), 'student')}",
        written=f"{now:%Y-%m-%d %H:%M:%S %Z}",
        graded=graded,
        attention=[(reason(those[0]), those) for those in by_cause(graded)],
        flag_words=flag_words,
        special=(FAULT, EMPTY),
        num_characters=NUM_CHARACTERS,
    )
