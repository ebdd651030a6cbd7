"""Read a submission from a student's folder: find the notebook to grade, odd files, and the time of the hand-in."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from coursekit.grading.submission.cells import Cells, find_answers
from coursekit.grading.submission.job_records import JobRecord, read_records
from coursekit.grading.submission.students_files import (
    FIRST,
    MAX_FILE_BYTES,
    Contents,
    parse_notebook,
)
from coursekit.grading.verdict import Flag
from coursekit.labs.cells import cell_name, is_solution
from coursekit.labs.notebook import MAX_NOTEBOOK_BYTES, DamagedNotebookError
from coursekit.labs.run.jobs_folder import JOBS_FOLDER
from coursekit.text import NUM_FEW, counted, first_few

if TYPE_CHECKING:
    from nbformat import NotebookNode

ID = re.compile(r"\w[\w.@-]{0,127}")  # id of a student in the course
MANIFEST = "hand-in.json"  # the manifest in a packed hand-in
NOTEBOOK, TIMESTAMP, SECRET = FIRST
JOBS = f"{JOBS_FOLDER}/"
NUM_CANDIDATES = 20
# Endings of files that Python, IPython or their tools would load from a working folder.
IMPORTABLE = (".py", ".pyc", ".so", ".pth", ".egg", ".whl", ".zip", ".cfg", ".ini", ".toml", ".sh")
NONE, NOTHING = "no notebook was handed in [notebook.none]", "nothing can be graded [submission.nothing]"
ASK_AGAIN = (
    f"nothing can be graded: ask for {{}} as a plain file in the top folder, of at most "
    f"{MAX_NOTEBOOK_BYTES / 1e6:.0f} MB; clearing its outputs makes it small enough [notebook.refused]"
)
MAX_TIMESTAMP_BYTES, MAX_SECRET_BYTES = 100, 1000
# A time as nbgrader's exchange writes it; the time zone is a name such as UTC or an offset such as +0100.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?( [A-Z]{2,5}| [+-]\d{4})?")


@dataclass(frozen=True)
class Submission:
    """One submission, as it was read from its folder; nothing in it is trusted.

    Attributes:
        notebook: Path of the notebook to grade, within the student's folder; '' if no file can be graded.
        cells: The answers from that notebook, with notes and flags.
        timestamp: When the submission was handed in, in UTC without an offset; None if this is unknown.
        notes: Sentences for the report.
        flags: Things that an instructor should look at.
        jobs: Records of batch jobs that were handed in with the notebook; they are the student's own claims.
        files: The files next to the notebook that nbgrader wrote and needs for feedback, keyed by name.
        mark: Fingerprint of all files in the folder.
        key: Digest of everything that the verdict depends on; students with equal answers have the same key.
    """

    student: str
    lab: str
    notebook: str = ""
    cells: Cells = field(default_factory=Cells)
    timestamp: datetime | None = None
    notes: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    jobs: tuple[JobRecord, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    mark: str = ""
    key: str = ""


def to_submission(  # noqa: PLR0913, PLR0917  # everything known about a folder
    contents: Contents,
    student: str,
    lab: str,
    released: NotebookNode,
    public: Collection[str] = (),
    refused: Sequence[str] = (),
    *,
    worked_copies: bool = False,
) -> Submission:
    """Return the submission that a folder contains; this may be the folder of any version.

    `contents` is the content of that folder. `public` names the files that students got with the lab. `refused` holds
    sentences about files in the student's own folder that were not copied into this folder. If `worked_copies` is true,
    another notebook is graded if it holds more answers than the notebook with the expected name.
    """
    files = contents.files
    name, cells, notes = _find_notebook(lab, released, files, worked_copies=worked_copies)
    expected = {name, TIMESTAMP, SECRET, MANIFEST, *public}
    others = (file for file in files if file not in expected)
    beside = [file for file in others if not file.startswith(JOBS) and not file.endswith(NOTEBOOK)]
    flags = [Flag("files", f"Ignored: {sentence}.") for sentence in contents.refused]
    importable = [file for file in beside if file.lower().endswith(IMPORTABLE)]
    if importable:
        flags.append(Flag("files", f"Files other than the notebook are ignored: {first_few(importable)}."))
    if data := [file for file in beside if file not in importable]:
        notes.append(f"files other than the notebook are ignored: {first_few(data)} [files.ignored]")
    if name and len(files[name]) > MAX_FILE_BYTES:
        notes.append(f"{name} is large ({len(files[name]) / 1e6:.0f} MB): its outputs are ignored [notebook.large]")
    if not name:
        notes = _with_missed(notes, [*refused, *contents.refused], f"{lab}{NOTEBOOK}")
    return Submission(
        student,
        lab,
        notebook=name,
        cells=cells,
        timestamp=read_timestamp(files),
        notes=tuple(notes),
        flags=tuple(flags),
        jobs=read_records(files, lab),
        files={name: data for name, data in files.items() if name == SECRET and len(data) <= MAX_SECRET_BYTES},
    )


def _with_missed(notes: list[str], missed: Sequence[str], expected: str) -> list[str]:
    """Return the notes on a folder in which no notebook can be graded.

    If files were refused and a notebook may be among them, the notes mention these files, and say what to ask the
    student for.
    """
    of_notebooks = [sentence for sentence in missed if NOTEBOOK in sentence]
    if not of_notebooks and not (missed and NONE in notes):
        return notes
    told = [f"ignored: {sentence}" for sentence in (of_notebooks or missed)[:NUM_FEW]]
    rest = [] if of_notebooks else ["the other files include no notebook [notebook.not-in-rest]"]
    others = [note for note in notes if note not in {NONE, NOTHING}]
    return [*told, *rest, *others, ASK_AGAIN.format(expected)]


def _find_notebook(
    lab: str, released: NotebookNode, files: Mapping[str, bytes], *, worked_copies: bool
) -> tuple[str, Cells, list[str]]:
    """Return the path of the notebook to grade, its answers, and notes on why it was chosen."""
    expected = f"{lab}{NOTEBOOK}"
    stubs = {cell_name(cell): cell.source for cell in released.cells if is_solution(cell)}
    # The executed copy from a batch job is the last resort.
    order = sorted((name != expected, name.startswith(JOBS), name) for name in files if name.endswith(NOTEBOOK))
    notes: list[str] = []
    known: dict[str, Cells] = {}
    worked: dict[str, int] = {}  # how many answers the student changed, by file
    for *_, name in order[:NUM_CANDIDATES]:
        try:
            notebook = parse_notebook(files[name])
        except DamagedNotebookError as error:
            notes.append(f"{name} is damaged: {error} [notebook.damaged]")
            continue
        known[name] = find_answers(notebook, released)
        answers = known[name].answers
        worked[name] = len(answers.items() - stubs.items())
        if not answers:
            of = notebook.made_from.split("/")[1:2] or [lab]
            if of[0] != lab:
                notes.append(f"{name} is from the wrong lab, {ascii(of[0])[1:-1]} [notebook.other-lab]")
            else:
                notes.append(f"{name} has no answer cell of this lab [notebook.no-answers]")
        if name == expected and len(answers) == worked[name] > 0:
            return name, known[name], notes
    if expected in known and known[expected].answers:
        chosen, notes = _choose_worked(worked, expected, worked_copies=worked_copies)
    else:
        num_answers = {name: len(cells.answers) for name, cells in known.items()}
        chosen, notes = _choose_other(num_answers, expected, notes)
    return chosen, known.get(chosen, Cells()), notes


def _choose_worked(worked: dict[str, int], expected: str, *, worked_copies: bool) -> tuple[str, list[str]]:
    """Choose between the notebook with the expected name, in which some answer is unchanged, and other notebooks."""
    most = max(num for name, num in worked.items() if not name.startswith(JOBS))
    best = [name for name, num in worked.items() if num == most and not name.startswith(JOBS)]
    if expected in best:
        return expected, []
    counts = f"{first_few(best)} holds {counted(most, 'answer')} and {expected} {worked[expected]}"
    if len(best) > 1:
        return expected, [f"{counts}: to have one of the copies graded, give it that name [copy.several]"]
    if worked_copies:
        return best[0], [f"{counts}: {best[0]} is graded [copy.graded]"]
    how = "to have the first one graded, set worked_copies = true in course.toml [copy.not-graded]"
    return expected, [f"{counts}: {how}"]


def _choose_other(known: dict[str, int], expected: str, notes: list[str]) -> tuple[str, list[str]]:
    most = max(known.values(), default=0)
    best = [name for name, num in known.items() if num == most and num]
    beside = [name for name in best if not name.startswith(JOBS)] or best[:1]
    if len(beside) == 1:
        return beside[0], [*notes, f"{beside[0]} is graded as {expected} [notebook.renamed]"]
    if beside:
        return "", [*notes, f"{expected} is missing: give this name to one of {first_few(beside)} [notebook.several]"]
    return "", [*(notes or [NONE]), NOTHING]


def parse_moment(text: str) -> datetime | None:
    """Return the time that nbgrader would read from a text, in UTC without an offset; None if there is none."""
    from nbgrader.utils import parse_utc

    if not MOMENT.fullmatch(text.strip()):
        return None
    try:
        moment: datetime = parse_utc(text.strip())
    except (ValueError, OverflowError):
        return None
    return moment


def read_timestamp(files: Mapping[str, bytes]) -> datetime | None:
    """Return the time in nbgrader's timestamp file, in UTC without an offset; None if there is no valid time."""
    return parse_moment(files.get(TIMESTAMP, b"")[:MAX_TIMESTAMP_BYTES].decode("ascii", "replace"))


def timestamp_text(moment: datetime) -> str:
    """Return the text that nbgrader would write for a time in UTC without an offset."""
    return f"{moment.isoformat(sep=' ', timespec='microseconds')} UTC"  # the year has four digits, even year 1
