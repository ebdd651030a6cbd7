"""A hand-in: which notebook in a student's folder is graded, what is odd about it, and when it came."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.grading.submission.cells import Cells, find_answers
from coursekit.grading.submission.job_records import JobRecord, read_records
from coursekit.grading.submission.students_files import (
    FIRST,
    MAX_FILE_BYTES,
    MAX_NOTEBOOK_BYTES,
    RefusedFileError,
    list_folder,
    read_file,
    read_notebook,
)
from coursekit.grading.verdict import Flag
from coursekit.labs.cells import cell_name, is_solution
from coursekit.labs.run.jobs_folder import JOBS_FOLDER
from coursekit.text import NUM_FEW, counted, first_few

if TYPE_CHECKING:
    from nbformat import NotebookNode

ID = re.compile(r"\w[\w.@-]{0,127}")  # of a student in the course
MANIFEST = "hand-in.json"  # of a packed hand-in
NOTEBOOK, TIMESTAMP, SECRET = FIRST
JOBS = f"{JOBS_FOLDER}/"
NUM_CANDIDATES = 20
# What Python, IPython or their tools would pick up from a working folder.
IMPORTABLE = (".py", ".pyc", ".so", ".pth", ".egg", ".whl", ".zip", ".cfg", ".ini", ".toml", ".sh")
NONE, NOTHING = "no notebook was handed in", "nothing can be graded"
ASK_AGAIN = (
    f"{NOTHING}: ask for {{}} as a plain file in the top folder, of at most {MAX_NOTEBOOK_BYTES / 1e6:.0f} MB, "
    "which it has without its outputs"
)
MAX_TIMESTAMP_BYTES = 100
# As nbgrader's exchange writes it; a time zone is a name such as UTC or an offset such as +0100.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?( [A-Z]{2,5}| [+-]\d{4})?")


@dataclass(frozen=True)
class HandIn:
    """One hand-in: a folder of which nothing is to be trusted, and what there is to say about it."""

    student: str
    lab: str
    folder: Path
    notebook: Path | None  # the notebook in there that is graded; None if no file can be it
    timestamp: datetime | None = None  # when it was handed in, UTC without an offset; None if that is not known
    notes: tuple[str, ...] = ()  # one sentence each, for the report
    flags: tuple[Flag, ...] = ()  # what an instructor should look at
    jobs: tuple[JobRecord, ...] = ()  # records of batch jobs in it: the student's own claims


def classify(  # noqa: PLR0913, PLR0917  # all that is known of a folder
    folder: Path,
    student: str,
    lab: str,
    released: NotebookNode,
    public: Collection[str] = (),
    refused: Sequence[str] = (),
    *,
    worked_copies: bool = False,
) -> HandIn:
    """Return what a folder holds, any version of a hand-in.

    `public` names files that students got with the lab; `refused` are the sentences on what was in the student's own
    folder and was not copied into this one.
    With `worked_copies` another notebook is graded when it holds more answers than that of the expected name.
    """
    try:
        listing = list_folder(folder)
    except RefusedFileError as error:
        ignored = Flag("files", f"The folder {folder.name} is ignored: {error}.")
        return HandIn(student, lab, folder, None, flags=(ignored,))
    name, notes = _find_notebook(folder, lab, released, listing.files, worked_copies=worked_copies)
    expected = {name, TIMESTAMP, SECRET, MANIFEST, *public}
    others = (file for file in listing.files if file not in expected)
    beside = [file for file in others if not file.startswith(JOBS) and not file.endswith(NOTEBOOK)]
    flags = [Flag("files", f"Ignored: {sentence}.") for sentence in listing.refused]
    importable = [file for file in beside if file.lower().endswith(IMPORTABLE)]
    if importable:
        flags.append(Flag("files", f"Files other than the notebook are ignored: {first_few(importable)}."))
    if data := [file for file in beside if file not in importable]:
        notes.append(f"files other than the notebook are ignored: {first_few(data)}")
    if name and listing.files[name] > MAX_FILE_BYTES:
        notes.append(f"{name} is large ({listing.files[name] / 1e6:.0f} MB): its outputs are ignored")
    if name is None:
        notes = _with_missed(notes, [*refused, *listing.refused], f"{lab}{NOTEBOOK}")
    notebook, jobs = folder / name if name else None, read_records(folder, listing.files, lab)
    return HandIn(student, lab, folder, notebook, read_timestamp(folder), tuple(notes), tuple(flags), jobs)


def _with_missed(notes: list[str], missed: Sequence[str], expected: str) -> list[str]:
    """Return what there is to say of a folder without a notebook to grade, where one may be in what was refused."""
    of_notebooks = [sentence for sentence in missed if NOTEBOOK in sentence]
    if not of_notebooks and not (missed and NONE in notes):
        return notes
    told = [f"ignored: {sentence}" for sentence in (of_notebooks or missed)[:NUM_FEW]]
    rest = [] if of_notebooks else ["no notebook is in the rest"]
    others = [note for note in notes if note not in {NONE, NOTHING}]
    return [*told, *rest, *others, ASK_AGAIN.format(expected)]


def staged_cells(hand_in: HandIn, released: NotebookNode) -> Cells:
    """Take the answers out of a hand-in: source text and pasted pictures, never outputs."""
    if hand_in.notebook is None:
        return Cells({}, ())
    try:
        notebook = read_notebook(hand_in.folder, hand_in.notebook.relative_to(hand_in.folder).as_posix())
    except RefusedFileError as error:
        return Cells({}, (), notes=(f"{hand_in.notebook.name} is damaged: {error}",))
    return find_answers(notebook, released)


def _find_notebook(
    folder: Path, lab: str, released: NotebookNode, files: Iterable[str], *, worked_copies: bool
) -> tuple[str | None, list[str]]:
    """Return the notebook that is graded, and what there is to say about the choice."""
    expected = f"{lab}{NOTEBOOK}"
    stubs = {cell_name(cell): cell.source for cell in released.cells if is_solution(cell)}
    # The executed copy of a batch job is the last resort.
    order = sorted((name != expected, name.startswith(JOBS), name) for name in files if name.endswith(NOTEBOOK))
    notes: list[str] = []
    known: dict[str, int] = {}  # by file, its number of answer cells
    worked: dict[str, int] = {}  # by file, how many of them the student has changed
    for *_, name in order[:NUM_CANDIDATES]:
        try:
            notebook = read_notebook(folder, name)
        except RefusedFileError as error:
            notes.append(f"{name} is damaged: {error}")
            continue
        answers = find_answers(notebook, released).answers
        known[name], worked[name] = len(answers), len(answers.items() - stubs.items())
        if not known[name]:
            of = notebook.made_from.split("/")[1:2] or [lab]
            wrong = f"is from the wrong lab, {ascii(of[0])[1:-1]}" if of[0] != lab else "has no answer cell of this lab"
            notes.append(f"{name} {wrong}")
        if name == expected and known[name] == worked[name] > 0:
            return name, notes
    if known.get(expected):
        return _choose_worked(worked, expected, worked_copies=worked_copies)
    return _choose_other(known, expected, notes)


def _choose_worked(worked: dict[str, int], expected: str, *, worked_copies: bool) -> tuple[str, list[str]]:
    """Choose between the expected notebook, in which an answer is as released, and those beside it."""
    most = max(num for name, num in worked.items() if not name.startswith(JOBS))
    best = [name for name, num in worked.items() if num == most and not name.startswith(JOBS)]
    if expected in best:
        return expected, []
    counts = f"{first_few(best)} holds {counted(most, 'answer')} and {expected} {worked[expected]}"
    if len(best) > 1:
        return expected, [f"{counts}: to have one of them graded, give it this name"]
    if worked_copies:
        return best[0], [f"{counts}: {best[0]} is graded"]
    return expected, [f"{counts}: to have the first one graded, write worked_copies = true into course.toml"]


def _choose_other(known: dict[str, int], expected: str, notes: list[str]) -> tuple[str | None, list[str]]:
    most = max(known.values(), default=0)
    best = [name for name, num in known.items() if num == most and num]
    beside = [name for name in best if not name.startswith(JOBS)] or best[:1]
    if len(beside) == 1:
        return beside[0], [*notes, f"{beside[0]} is graded as {expected}"]
    if beside:
        return None, [*notes, f"{expected} is missing: give one of {first_few(beside)} this name"]
    return None, [*(notes or [NONE]), NOTHING]


def parse_moment(text: str) -> datetime | None:
    """Return a time as nbgrader understands it, UTC without an offset; None if the text is not a time."""
    from nbgrader.utils import parse_utc

    if not MOMENT.fullmatch(text.strip()):
        return None
    try:
        moment: datetime = parse_utc(text.strip())
    except (ValueError, OverflowError):
        return None
    return moment


def read_timestamp(folder: Path) -> datetime | None:
    """Return what a hand-in's own file says about its time; None if the file is missing or holds no time."""
    try:
        text = read_file(folder, TIMESTAMP, MAX_TIMESTAMP_BYTES).decode("ascii", "replace")
    except RefusedFileError:
        return None
    return parse_moment(text)


def timestamp_text(moment: datetime) -> str:
    """Return a time as nbgrader writes it."""
    return f"{moment.isoformat(sep=' ', timespec='microseconds')} UTC"  # with four digits of the year, also of year 1


def utc(seconds: float) -> datetime:
    """Return a time of the file system, UTC without an offset."""
    return datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None)


def shown(moment: datetime | None) -> str:
    """Return a time for people."""
    return f"{moment.isoformat(sep=' ', timespec='seconds')} UTC" if moment else "an unknown time"


def duration(seconds: float) -> str:
    """Return how long something is, roughly: "3 h 05 min"."""
    hours, minutes = divmod(int(seconds // 60), 60)
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if days else f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
