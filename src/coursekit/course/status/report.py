"""Show a class in the terminal and as one self-contained page; `coursekit grade` adds the hand-ins that it graded."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coursekit.course.grade import EMPTY, FAULT, Graded
from coursekit.course.status.class_status import ClassStatus, LabStatus, State
from coursekit.files import write_file
from coursekit.grading.verdict import Flag
from coursekit.pages import page_template
from coursekit.text import counted, printable
from coursekit.times import shown

NUM_CHARACTERS = 2000  # how much of a cell's output is shown
NUM_WORST = 5
NUM_ALL = 60  # students or hand-ins; if there are more, only the exceptions are printed
LEGEND = "l late, b waits for points by hand, r has changed and needs a run."


def print_class(found: ClassStatus, console: Console, *, anonymous: bool = False) -> None:
    """Print the state of a class, without students if `anonymous` is true; students' text is never read as markup."""
    title = f"{printable(found.course)}: {counted(len(found.roster), 'student')}"
    console.print(title, style="table.title", markup=False, highlight=False)
    if later := [lab.lab.name for lab in found.labs if not lab.has_begun]:
        console.print(f"not released: {', '.join(later)}", markup=False, highlight=False)
    found = replace(found, labs=tuple(lab for lab in found.labs if lab.has_begun))
    _print_fitting(found, _counts, console)
    if (found.roster or found.others) and found.labs and not anonymous:
        _print_students(found, console)
    for lab in found.labs:
        if any(one.num_missed for one in lab.missed):
            console.print(_worst(lab))
    if not anonymous:
        for line in found.notes:
            console.print(Text(f"! {printable(line)}", style="yellow"), soft_wrap=True)


def _print_fitting(found: ClassStatus, table: Callable[[ClassStatus], Table], console: Console) -> None:
    """Print a table with one column for each lab; if the terminal is too narrow, split it into several tables."""
    rest, unbounded = found.labs, console.options.update(max_width=10_000)
    while rest:
        tables = [table(replace(found, labs=rest[:num])) for num in range(len(rest), 0, -1)]
        fitting = (one for one in tables if console.measure(one, options=unbounded).maximum <= console.width)
        widest = next(fitting, tables[-1])
        console.print(widest)
        rest = rest[len(widest.columns) - 1 :]


def _counts(found: ClassStatus) -> Table:
    table = _table("", "", *(lab.lab.name for lab in found.labs))
    for heading, texts in found.rows.items():
        table.add_row(heading, *texts)
    return table


def _print_students(found: ClassStatus, console: Console) -> None:
    """Print a line for each student; in a large class, only for students for whom there is something to note."""
    everybody = (*found.roster, *found.others)
    listed = everybody if len(everybody) <= NUM_ALL else [one for one in everybody if _is_exception(found, one)]

    def students(those: ClassStatus) -> Table:
        table = _table("", "student", *(lab.lab.name for lab in those.labs))
        for student in listed:
            name = Text(printable(student), style="" if student in found.roster else "dim")
            table.add_row(name, *(_cell(lab, student) for lab in those.labs))
        return table

    _print_fitting(found, students, console)
    if more := len(everybody) - len(listed):
        line = f"{counted(more, 'more student')} with nothing to note; `coursekit course status --html FILE` lists all."
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(LEGEND, style="dim", markup=False, highlight=False)


def _is_exception(found: ClassStatus, student: str) -> bool:
    """Return whether a student was late, sent damaged work, sent new work after grading, or is not on the roster."""
    those = [lab.students[student] for lab in found.labs]
    is_listed = [one.state is State.DAMAGED or not {"late", "run again"}.isdisjoint(one.marks) for one in those]
    return student not in found.roster or any(is_listed)


def _table(title: str, *headings: str) -> Table:
    """Return a table whose first column is never wrapped."""
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), title=title or None, title_justify="left")
    for i, heading in enumerate(headings):
        table.add_column(heading, no_wrap=not i)
    return table


def _cell(lab: LabStatus, student: str) -> Text:
    one = lab.students[student]
    if one.state is State.GRADED:
        cell = Text(f"{one.points:g}/{lab.max_points:g}")
    else:
        cell = Text(one.state.value, style="red" if one.state is State.DAMAGED else "dim")
    if one.marks:
        cell.append(f" {''.join(mark[0] for mark in one.marks)}", style="yellow")
    return cell


def _worst(lab: LabStatus) -> Table:
    table = _table(f"{lab.lab.name}, to explain again", "missed", "property", "section")
    for one in [one for one in lab.missed if one.num_missed][:NUM_WORST]:
        row = (f"{one.num_missed} of {one.num_graded}", one.title, one.section)
        table.add_row(*(Text(printable(text)) for text in row))
    return table


def print_call(graded: Sequence[Graded], console: Console) -> None:
    """Print how many hand-ins one call graded, and which of them got no points because of a fault or missing work."""
    console.print(headline(graded), style="bold", highlight=False)
    for outcome in (FAULT, EMPTY):
        those = [f"{one.submission.student} {one.submission.lab}" for one in graded if one.outcome == outcome]
        if those:
            line = printable(f"{outcome}: {', '.join(those)}")
            console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)


def headline(graded: Sequence[Graded]) -> str:
    """Return a summary such as "3 hand-ins of 2 students: 1 graded, 1 needs another run, 1 with nothing to grade"."""
    num = Counter(one.outcome for one in graded)
    parts = [f"{len(graded) - num[FAULT] - num[EMPTY]} graded"]
    parts += [f"{num[FAULT]} need{'s' * (num[FAULT] == 1)} another run"] if num[FAULT] else []
    parts += [f"{num[EMPTY]} with nothing to grade"] if num[EMPTY] else []
    students = counted(len({one.submission.student for one in graded}), "student")
    return f"{counted(len(graded), 'hand-in')} of {students}: {', '.join(parts)}"


def flag_words(flags: Sequence[Flag]) -> str:
    """Return the number of flags and their kinds, such as "3 flags: owner, time"."""
    return f"{counted(len(flags), 'flag')}: {', '.join(dict.fromkeys(flag.kind for flag in flags))}"


def write_page(
    path: Path, found: ClassStatus, now: datetime, graded: Sequence[Graded] = (), *, anonymous: bool = False
) -> None:
    """Write the page about a class, readable only by its owner; if that fails, an earlier page stays as it was.

    Text is escaped, and its control characters are replaced. `now` has a time zone; the graded hand-ins are sorted by
    student and lab. If `anonymous` is true, the page shows neither students nor the messages that they got, because an
    error message may contain a name or a path.
    """
    page = page_template("page.html.j2", Path(__file__).parent, shown=shown).render(
        found=found,
        anonymous=anonymous,
        title=headline(graded) if graded else f"Class of {counted(len(found.roster), 'student')}",
        written=f"{now:%Y-%m-%d %H:%M:%S %Z}",
        graded=graded,
        flag_words=flag_words,
        special=(FAULT, EMPTY),
        num_characters=NUM_CHARACTERS,
    )
    write_file(path, page.encode("utf-8", "replace"))
