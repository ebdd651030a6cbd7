"""Signs of work in students' files: in the exchange, in kept versions, and in homes that may be read.

nbgrader records neither a fetch nor a run: notebooks that lie somewhere tell of both, or it is not known.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.course.collect import read_inbound
from coursekit.course.roster import ID
from coursekit.course.versions import read_versions
from coursekit.errors import CourseKitError
from coursekit.grading.submission.job_records import read_records
from coursekit.grading.submission.notebook import DamagedNotebookError, read_notebook
from coursekit.grading.submission.student_folder import NOTEBOOK
from coursekit.grading.submission.students_files import MissingFileError, RefusedFileError, list_folder, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coursekit.course.folder import Course

STUDENT = "{student}"


@dataclass(frozen=True)
class Sign:
    """What one place tells of a student's work in one lab.

    Attributes:
        has_notebook: Whether the lab's notebook is there; None when the place cannot be read.
        has_run: Whether it carries executed cells, or a job's record lies beside it; None when nothing tells.
        num_run: Code cells that carry the number of an execution.
        num_code: Code cells.
    """

    has_notebook: bool | None = None
    has_run: bool | None = None
    num_run: int = 0
    num_code: int = 0


@dataclass(frozen=True)
class NewestHandIn:
    """What a student handed in for one lab.

    Attributes:
        folder: The newest of what is graded, kept or in the exchange; None when nothing is.
        num_new: Versions in the exchange that were not collected yet.
    """

    folder: Path | None = None
    num_new: int = 0


def find_handed_in(course: Course, labs: Iterable[str]) -> Mapping[tuple[str, str], NewestHandIn]:
    """Return by student and lab what was handed in, collected or not."""
    wanted = set(labs)
    arrived: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for path in sorted(course.inbound.iterdir()) if course.inbound.is_dir() else ():
        found = read_inbound(path)
        if found and found["lab"] in wanted:
            arrived[found["student"], found["lab"]].append(path)
    kept = {(path.name, lab) for lab in wanted for path in (course.folder / "hand-ins" / lab).glob("[!.]*")}
    graded = {(student, lab) for lab in wanted for student in course.students_in("submitted", lab)}
    return {key: _handed_in(course, *key, arrived.get(key, [])) for key in {*arrived, *kept, *graded}}


def _handed_in(course: Course, student: str, lab: str, arrived: list[Path]) -> NewestHandIn:
    versions = read_versions(course.hand_ins(lab, student))
    known = {version.received for version in versions}
    new = [path for path in arrived if path.name not in known]
    submitted = course.submitted(lab, student)
    folders = [*(version.folder for version in versions), *([submitted] if submitted.is_dir() else []), *new]
    return NewestHandIn(folders[-1] if folders else None, len(new))


def sign_of_hand_in(folder: Path, lab: str) -> Sign:
    """Return the sign in a handed-in folder; records of jobs count as a run, though students could make them up."""
    try:
        files = list_folder(folder).files
    except (RefusedFileError, OSError):
        return Sign()
    notebooks = [name for name in files if name.endswith(NOTEBOOK) and "/" not in name]
    name = f"{lab}{NOTEBOOK}" if f"{lab}{NOTEBOOK}" in notebooks else next(iter(notebooks), "")
    sign = _sign_of_notebook(folder, name) if name else Sign()
    if sign.has_run or read_records(folder, files, lab):
        return Sign(sign.has_notebook, has_run=True, num_run=sign.num_run, num_code=sign.num_code)
    return Sign(sign.has_notebook, None, 0, sign.num_code)  # outputs may have been cleared before handing in


@dataclass(frozen=True)
class Signs:
    """What is known of one student's work in one lab.

    Attributes:
        hand_in: What the newest hand-in tells.
        home: What the home tells; None when nobody looked.
    """

    hand_in: Sign = field(default_factory=Sign)
    home: Sign | None = None


def find_signs(student: str, lab: str, handed_in: NewestHandIn, homes: str, course_name: str) -> Signs:
    """Look at a hand-in, and into the home if the hand-in shows no run; '' looks into no home."""
    hand_in = sign_of_hand_in(handed_in.folder, lab) if handed_in.folder else Sign()
    looks = homes and not hand_in.has_run  # a megabyte less to read for each student and lab
    return Signs(hand_in, sign_in_home(homes, student, lab, course_name) if looks else None)


def check_homes(pattern: str) -> str:
    """Return the pattern of homes.

    Raises:
        CourseKitError: it does not say where a student's name stands.
    """
    if STUDENT not in pattern or not pattern.startswith(("/", "~")):
        raise CourseKitError(f"--homes is a path with {STUDENT} in it, such as /home/{STUDENT} or ~{STUDENT}.")
    return pattern


def sign_in_home(pattern: str, student: str, lab: str, course_name: str) -> Sign:
    """Return what a student's home tells: the lab as nbgrader fetches it, or in a checkout's `labs/`.

    `pattern` is the path of a home with `{student}` in it; nbgrader's course id may be a folder in between.
    """
    if not ID.fullmatch(student):  # a name that is not an account's could lead anywhere
        return Sign()
    try:
        home = Path(pattern.replace(STUDENT, student)).expanduser()
        if not home.is_dir():
            return Sign()
    except (RuntimeError, OSError):  # no such account, or no right to look
        return Sign()
    signs = [_sign_of_notebook(home, f"{place}{lab}/{lab}{NOTEBOOK}") for place in ("", f"{course_name}/", "labs/")]
    best = max(signs, key=lambda sign: (bool(sign.has_notebook), sign.num_run))
    return best if best.has_notebook or all(sign.has_notebook is False for sign in signs) else Sign()


def _sign_of_notebook(folder: Path, name: str) -> Sign:
    try:
        code = [cell for cell in read_notebook(folder, name).cells if cell.cell_type == "code"]
    except DamagedNotebookError:
        return _sign_without_cells(folder, name)
    num_run = sum(cell.was_run for cell in code)
    return Sign(has_notebook=True, has_run=num_run > 0, num_run=num_run, num_code=len(code))


def _sign_without_cells(folder: Path, name: str) -> Sign:
    """Tell a notebook that is damaged from one that is not there, and both from one that may not be read."""
    try:
        read_file(folder, name)
    except MissingFileError:
        return Sign(has_notebook=False, has_run=False)
    except RefusedFileError:
        return Sign()
    return Sign(has_notebook=True)
