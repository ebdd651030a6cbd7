"""The progress of a class in the terminal: how many, who, and what to explain again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from coursekit.course.progress.summary import counts, legend, marks, mean_points, notes
from coursekit.text import counted, printable

if TYPE_CHECKING:
    from rich.console import Console

    from coursekit.course.progress.progress import ClassProgress, LabProgress, StudentProgress

NUM_WORST = 5
NUM_BLOCKS = 12
HAND, FEEDBACK = "m", "f"


def print_class(found: ClassProgress, console: Console) -> None:
    """Print the progress of a class; no text of a student acts as markup or moves the cursor."""
    console.print(_overview(found))
    if found.members:
        console.print(_students(found))
        for line in (*legend(found), f"{HAND} waits for points by hand, {FEEDBACK} has feedback."):
            console.print(line, style="dim", markup=False, highlight=False)
    for lab in found.labs:
        if any(one.num_missed for one in lab.missed):
            console.print(_worst(lab))
    for line in notes(found):
        console.print(Text(f"! {printable(line)}", style="yellow"), soft_wrap=True)


def _overview(found: ClassProgress) -> Table:
    title = f"{printable(found.course)}: {counted(len(found.counted), 'student')}"
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), title=title, title_justify="left")
    for heading in ("lab", "fetched", "run", "handed\nin", "graded", "by\nhand", "feed-\nback", "mean\npoints"):
        table.add_column(heading, justify="left" if heading == "lab" else "right", no_wrap=True)
    for lab in found.labs:
        mean = mean_points(found, lab)
        shown = "" if mean is None else f"{mean:.1f}/{lab.max_points:g}"
        table.add_row(lab.lab.name, *map(str, counts(found, lab).values()), shown)
    return table


def _students(found: ClassProgress) -> Table:
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    for heading in ("student", *(lab.lab.name for lab in found.labs)):
        table.add_column(heading, no_wrap=heading == "student")
    for member in found.members:
        name = Text(printable(member.label), style="" if member.is_counted else "dim")
        table.add_row(name, *(_cell(lab.progress[member.id], lab.max_points) for lab in found.labs))
    return table


def _cell(progress: StudentProgress, max_points: float) -> Text:
    cell = Text(marks(progress), style="green" if progress.steps[-1] else "")
    if progress.points is not None:
        cell.append(f" {progress.points:g}/{max_points:g}", style="default")
    elif progress.num_run:
        cell.append(f" {progress.num_run}/{progress.num_code} cells", style="dim")
    for is_so, letter in ((progress.waits, HAND), (progress.has_feedback, FEEDBACK)):
        cell.append(f" {letter}" if is_so else "", style="yellow" if letter == HAND else "default")
    return cell


def _worst(lab: LabProgress) -> Table:
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), title=f"{lab.lab.name}, to explain again", title_justify="left")
    for heading in ("missed", "", "property", "section"):
        table.add_column(heading, justify="right" if heading == "missed" else "left", no_wrap=heading in {"missed", ""})
    for one in [one for one in lab.missed if one.num_missed][:NUM_WORST]:
        num_full = max(1, round(one.share * NUM_BLOCKS))
        bar = "█" * num_full + "░" * (NUM_BLOCKS - num_full)
        row = (f"{one.num_missed} of {one.num_graded}", bar, one.wording.title, one.wording.section)
        table.add_row(*(Text(printable(text)) for text in row))
    return table
