"""A hand-in: which notebook in a student's folder is graded, what is odd about it, and the answers taken from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.grading.submission.cells import Cells, find_answers, num_known
from coursekit.grading.submission.job_records import JobRecord, read_records
from coursekit.grading.submission.notebook import DamagedNotebookError, StudentNotebook, read_notebook
from coursekit.grading.submission.students_files import RefusedFileError, list_folder, read_file
from coursekit.grading.submission.times import SECRET, TIMESTAMP, read_timestamp
from coursekit.grading.verdict import Flag
from coursekit.text import first_few, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime
    from pathlib import Path

    from nbformat import NotebookNode

MANIFEST = "hand-in.json"  # of a packed hand-in
NOTEBOOK = ".ipynb"
JOBS = "jobs/"
REQUEST, ASKS = "regrade.txt", "asks for another look"  # a student's sentence to the instructor
MAX_REQUEST_BYTES = 2000
NUM_CANDIDATES = 20
# What Python, IPython or a tool of theirs would pick up from a working folder.
IMPORTABLE = (".py", ".pyc", ".so", ".pth", ".egg", ".whl", ".zip", ".cfg", ".ini", ".toml", ".sh")


@dataclass(frozen=True)
class HandIn:
    """One hand-in.

    Attributes:
        lab: Name of the lab it was handed in for.
        folder: Where it lies; nothing in there is to be trusted.
        notebook: The notebook in there that is graded; None if no file can be it.
        timestamp: When it was handed in, UTC without an offset; None if that is not known.
        notes: One sentence each, for the report.
        flags: What an instructor should look at.
        jobs: Records of batch jobs that lie in it: the student's own claims.
    """

    student: str
    lab: str
    folder: Path
    notebook: Path | None
    timestamp: datetime | None = None
    notes: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    jobs: tuple[JobRecord, ...] = ()


def classify(folder: Path, student: str, lab: str, released: NotebookNode, public: Collection[str] = ()) -> HandIn:
    """Return what a folder holds, any version of a hand-in; `public` names files that students got with the lab."""
    try:
        listing = list_folder(folder)
    except RefusedFileError as error:
        return HandIn(student, lab, folder, None, flags=(Flag("files", f"{folder.name} is not taken: {error}."),))
    name, notes = _find_notebook(folder, lab, released, listing.files)
    expected = {name, TIMESTAMP, SECRET, MANIFEST, REQUEST, *public}
    others = (file for file in listing.files if file not in expected)
    beside = [file for file in others if not file.startswith(JOBS) and not file.endswith(NOTEBOOK)]
    flags = [Flag("files", f"{sentence}; it is not taken.") for sentence in listing.refused]
    importable = [file for file in beside if file.lower().endswith(IMPORTABLE)]
    if importable:
        flags.append(Flag("files", f"Files beside the notebook are not taken: {first_few(importable)}."))
    data = [file for file in beside if file not in importable]
    if data:
        notes.append(f"files beside the notebook are not taken: {first_few(data)}")
    notebook, jobs = folder / name if name else None, read_records(folder, listing.files, lab)
    return HandIn(student, lab, folder, notebook, read_timestamp(folder), tuple(notes), tuple(flags), jobs)


def read_request(folder: Path) -> list[str]:
    """Return what a student asks in a file beside the notebook, as one line; none if there is no such file."""
    try:
        text = read_file(folder, REQUEST, MAX_REQUEST_BYTES).decode("utf-8", "replace")
    except RefusedFileError:
        return []
    return [f"{ASKS}: {' '.join(printable(text).split())}"]


def staged_cells(hand_in: HandIn, released: NotebookNode) -> Cells:
    """Take the answers out of a hand-in: source text only, never outputs or attachments."""
    if hand_in.notebook is None:
        return Cells({}, ())
    try:
        notebook = read_notebook(hand_in.folder, hand_in.notebook.relative_to(hand_in.folder).as_posix())
    except DamagedNotebookError as error:
        return Cells({}, (), (f"{hand_in.notebook.name} is damaged: {error}",))
    return find_answers(notebook, released)


def _find_notebook(
    folder: Path, lab: str, released: NotebookNode, files: Iterable[str]
) -> tuple[str | None, list[str]]:
    """Return the notebook that is graded, and what there is to say about the choice."""
    expected = f"{lab}{NOTEBOOK}"
    # The executed copy of a batch job is the last resort.
    order = sorted((name != expected, name.startswith(JOBS), name) for name in files if name.endswith(NOTEBOOK))
    notes: list[str] = []
    known: dict[str, int] = {}
    for *_, name in order[:NUM_CANDIDATES]:
        try:
            notebook = read_notebook(folder, name)
        except DamagedNotebookError as error:
            notes.append(f"{name} is damaged: {error}")
            continue
        known[name] = num_known(notebook, released)
        if not known[name]:
            notes.append(_about_stranger(name, notebook, lab))
        if name == expected and known[name]:
            return name, notes
    return _choose_other(known, expected, notes)


def _choose_other(known: dict[str, int], expected: str, notes: list[str]) -> tuple[str | None, list[str]]:
    most = max(known.values(), default=0)
    best = [name for name, num in known.items() if num == most and num]
    beside = [name for name in best if not name.startswith(JOBS)] or best[:1]
    if len(beside) == 1:
        return beside[0], [*notes, f"the notebook is called {beside[0]}: taken for {expected}"]
    if beside:
        return None, [*notes, f"{expected} is missing, and each of {first_few(beside)} could be it: name one so"]
    return None, [*(notes or ["no notebook was handed in"]), "nothing can be graded"]


def _about_stranger(name: str, notebook: StudentNotebook, lab: str) -> str:
    made_from = notebook.made_from.split("/")[1:2]
    if made_from and made_from[0] != lab:
        return f"{name} is the notebook of {ascii(made_from[0])[1:-1]}: the wrong lab"
    return f"{name} holds no answer cell of this lab"
