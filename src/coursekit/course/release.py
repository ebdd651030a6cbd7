"""Release labs and feedback: students find in the exchange what is in labs/, and a page for what was graded."""

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

import nbformat

from coursekit import __version__
from coursekit.course.folder import Course, find_course, succeed
from coursekit.course.roster import folded
from coursekit.course.status.points import read_points
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.submission.student_folder import SECRET, TIMESTAMP
from coursekit.grading.submission.students_files import SKIPPED
from coursekit.labs.build.build import build_sources
from coursekit.labs.build.release import finish
from coursekit.labs.lab import Lab

MADE_FROM = ".made-from"  # beside a page of feedback: a digest of what it shows
FEW_PAGES = 10  # which one process makes in the time that others take to start
ASSISTANTS = "students/AGENTS.md"  # how an AI assistant should help; next to each notebook, where it looks first


def release(course: Course, lab: Lab, *, force: bool = False) -> str:
    """Release one lab to the exchange; with `force` also other files than those that were released before.

    Returns:
        What was done: "released", "released again", or "unchanged" for nothing.

    Raises:
        CourseKitError: labs/ is stale, nbgrader refuses the lab, or another version was released before.
    """
    build_sources(course.root, [lab])
    api = course.api()
    succeed(f"make the release of {lab.name}", api.generate_assignment(lab.name))
    made, committed = course.folder / "release" / lab.name, course.root / "labs" / lab.name
    _refuse_stale(lab.name, made, committed)
    for name, data in _files(committed).items():
        write_file(made / name, data, mode=0o644)
    write_file(made / "AGENTS.md", (course.root / ASSISTANTS).read_bytes(), mode=0o644)

    outbound = course.outbound(lab.name)
    is_out = outbound.is_dir()
    if is_out and _files(outbound) == _files(made):
        return "unchanged"
    if is_out and not force:
        raise CourseKitError(
            f"{lab.name} was released before and students may have fetched it: "
            "`--force` gives the new version to those who fetch it from now on."
        )
    api.config.ExchangeReleaseAssignment.force = is_out
    succeed(f"release {lab.name} to the exchange", api.release_assignment(lab.name))
    close_inbound(course)
    return "released again" if is_out else "released"


def close_inbound(course: Course) -> None:
    """Let nobody but its owner move a hand-in away; nbgrader makes the folder so that everybody can."""
    if course.inbound.is_dir():
        course.inbound.chmod(stat.S_IMODE(course.inbound.stat().st_mode) | stat.S_ISVTX)


def _refuse_stale(lab: str, made: Path, committed: Path) -> None:
    """Hold what students get against what the solutions make; only what the builder does after nbgrader may differ."""
    notebook = f"{lab}.ipynb"
    fresh = (committed / notebook).is_file()
    if fresh:
        ours, theirs = (nbformat.read(folder / notebook, as_version=4) for folder in (made, committed))
        fresh = finish(ours).cells == theirs.cells
    others, own = ({**_files(folder), notebook: b""} for folder in (made, committed))
    if not fresh or others != own:
        raise CourseKitError(f"labs/{lab} is not what solutions/{lab} makes: run `coursekit build {lab[:2]}` first.")


def _files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and not set(path.parts) & set(SKIPPED))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def graded_students(course: Course, lab: str, students: Collection[str] = ()) -> tuple[str, ...]:
    """Return the students whose hand-in of a lab was graded, of these or of all; of a team whose hand-in counts."""
    found = course.students_in("autograded", f"{lab}/{lab}.ipynb")
    counts = {student: student for student in found}
    if course.teams:
        counts |= {one: graded.student for (one, name), graded in read_points(course).graded.items() if name == lab}
    wanted = set(map(folded, students or counts))
    return tuple(sorted(found & {counts[student] for student in counts if folded(student) in wanted}))


@dataclass(frozen=True)
class Feedback:
    """The page of one student.

    Attributes:
        goes_back: whether its student can fetch it: what did not come through the exchange cannot go back there.
        is_new: whether it was made now, and not as before.
    """

    student: str
    page: Path
    goes_back: bool
    is_new: bool


def give_feedback(course: Course, lab: str, student: str) -> Feedback:
    """Make the page of one student and release it, unless all that it shows is as it was when it was made.

    Raises:
        CourseKitError: nbgrader fails.
    """
    folder = course.folder / "feedback" / student / lab
    page, made_from = folder / f"{lab}.html", folder / MADE_FROM
    shown = _shown(course, lab, student)
    if is_new := not (page.is_file() and made_from.is_file() and made_from.read_text() == shown):
        api = course.api()
        succeed(f"make the feedback of {student}, {lab}", api.generate_feedback(lab, student, force=True))
        if (folder / SECRET).is_file():
            succeed(f"release the feedback of {student}, {lab}", api.release_feedback(lab, student))
        write_file(made_from, shown.encode())
    return Feedback(student, page, (folder / SECRET).is_file(), is_new)


def give_all(course: Course, lab: str, students: Sequence[str]) -> Iterator[Feedback]:
    """Yield the pages of many students in their order, made by as many processes as there are cores."""
    if len(students) < FEW_PAGES:
        yield from (give_feedback(course, lab, student) for student in students)
        return
    # A new process has no threads of this one, such as that of a progress bar.
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn")) as pool:
        yield from pool.map(_give_feedback, repeat((course.root, course.folder, lab)), students)


def _give_feedback(where: tuple[Path, Path, str], student: str) -> Feedback:
    root, folder, lab = where
    return give_feedback(find_course(root, folder), lab, student)


def _shown(course: Course, lab: str, student: str) -> str:
    """Return a digest of what is on a page, and of the submission it goes back to.

    The files are the graded notebook, its time, and the secret of the submission; points, comments and what lateness
    costs are the gradebook's.
    """
    digest = hashlib.sha256(__version__.encode())
    for name in (f"{lab}.ipynb", TIMESTAMP, SECRET):
        path = course.autograded(lab, student) / name
        digest.update(path.read_bytes() if path.is_file() else b"")
    with course.gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook(lab, lab, student)
        points = sorted((one.cell_id, one.auto_score, one.manual_score, one.extra_credit) for one in notebook.grades)
        comments = sorted((one.cell_id, one.auto_comment, one.manual_comment) for one in notebook.comments)
        digest.update(repr((points, comments, notebook.late_submission_penalty)).encode())
    return digest.hexdigest()
