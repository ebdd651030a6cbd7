"""Release labs and feedback: put the files of labs/, and a feedback page for each graded hand-in, into the exchange."""

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

import nbformat

from coursekit import __version__
from coursekit.course.exchange import close_inbound
from coursekit.course.folder import Course, find_course, succeed
from coursekit.course.kept_cells import keeping_points, refuse_other_cells
from coursekit.course.roster import username_key
from coursekit.course.status.points import read_points
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.submission.student_folder import SECRET, TIMESTAMP
from coursekit.grading.submission.students_files import SKIPPED
from coursekit.labs.build.build import build_sources, students_version
from coursekit.labs.lab import Lab

MADE_FROM = ".made-from"  # a file next to each feedback page, with a digest of what the page shows
FEW_PAGES = 10  # one process makes this many pages in the time that several processes take to start
ASSISTANTS = "students/AGENTS.md"  # tells AI assistants how to help; released next to each notebook


@dataclass(frozen=True)
class Release:
    """A lab that is ready for release.

    `files` maps the path of each file to its content; `is_other` says whether a different version was released before.
    """

    course: Course
    lab: Lab
    files: Mapping[str, bytes]
    is_other: bool

    def give(self) -> str:
        """Release the lab, and return what was done: "released", "released again", or "unchanged"."""
        name, api = self.lab.name, self.course.api()
        with keeping_points(self.course, name):
            succeed(f"generate the release of {name}", api.generate_assignment(name))
        for path, data in self.files.items():
            write_file(self.course.folder / "release" / name / path, data, mode=0o644)
        if not self.is_other and self.course.outbound(name).is_dir():
            return "unchanged"
        api.config.ExchangeReleaseAssignment.force = self.is_other
        succeed(f"release {name} to the exchange", api.release_assignment(name))
        close_inbound(self.course.inbound)
        return "released again" if self.is_other else "released"


def release(course: Course, lab: Lab, *, force: bool = False) -> str:
    """Release one lab to the exchange, and return what was done; see `prepare_release` and `Release.give`."""
    return prepare_release(course, lab, force=force).give()


def prepare_release(course: Course, lab: Lab, *, force: bool = False) -> Release:
    """Check that a lab can be released, and return it ready for release, without changing the course.

    Only if `force` is true may its files differ from those of an earlier release.

    Raises:
        CourseKitError: labs/ is stale, nbgrader would refuse the lab, or another version was released before.
    """
    source = nbformat.read(build_sources(course.root, [lab])[lab.name], as_version=4)
    notebook, others = students_version(lab, source)
    files, name = _files(course.root / "labs" / lab.name), f"{lab.name}.ipynb"
    fresh = name in files and nbformat.reads(files[name].decode(), as_version=4).cells == notebook.cells
    if not fresh or {**files, name: b""} != {**others, name: b""}:
        made = f"labs/{lab.name} does not match solutions/{lab.name}"
        raise CourseKitError(f"{made}: run `coursekit build {lab.name[:2]}` first.", "labs.stale")
    files |= {"AGENTS.md": (course.root / ASSISTANTS).read_bytes()}
    outbound = course.outbound(lab.name)
    is_other = outbound.is_dir() and _files(outbound) != files
    if is_other and not force:
        raise CourseKitError(
            f"{lab.name} was released before, and students may have fetched it: "
            "with `--force`, those who fetch it from now on get the new version.",
            "release.other-version",
        )
    refuse_other_cells(course, lab.name, notebook)
    return Release(course, lab, files, is_other)


def _files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and not set(path.parts) & set(SKIPPED))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def graded_students(course: Course, lab: str, students: Collection[str] = ()) -> tuple[str, ...]:
    """Return the students with a graded hand-in, from the given students or, if none are given, from the whole class.

    A member of a team is replaced by the member whose hand-in counts.
    """
    found = course.students_in("autograded", f"{lab}/{lab}.ipynb")
    counts = {student: student for student in found}
    if course.teams:
        counts |= {one: graded.student for (one, name), graded in read_points(course).graded.items() if name == lab}
    wanted = set(map(username_key, students or counts))
    return tuple(sorted(found & {counts[student] for student in counts if username_key(student) in wanted}))


@dataclass(frozen=True)
class Feedback:
    """One student's feedback page.

    Attributes:
        goes_back: whether the student can fetch the page from the exchange, which requires that the hand-in came from
            there.
        is_new: whether this call made the page.
    """

    student: str
    page: Path
    goes_back: bool
    is_new: bool


def give_feedback(course: Course, lab: str, student: str) -> Feedback:
    """Make and release one student's feedback page; do nothing if the page would show nothing new.

    Raises:
        AwayError: nbgrader fails, or the exchange is unavailable.
    """
    folder = course.folder / "feedback" / student / lab
    page, made_from = folder / f"{lab}.html", folder / MADE_FROM
    shown = _shown(course, lab, student)
    if is_new := not (page.is_file() and made_from.is_file() and made_from.read_text() == shown):
        api = course.api()
        succeed(f"generate the feedback of {student}, {lab}", api.generate_feedback(lab, student, force=True))
        if (folder / SECRET).is_file():
            course.require_exchange()
            succeed(f"release the feedback of {student}, {lab}", api.release_feedback(lab, student))
        write_file(made_from, shown.encode())
    return Feedback(student, page, (folder / SECRET).is_file(), is_new)


def give_all(course: Course, lab: str, students: Sequence[str]) -> Iterator[Feedback]:
    """Yield each student's feedback, in the given order; if there are many, one process per core makes the pages."""
    if len(students) < FEW_PAGES:
        yield from (give_feedback(course, lab, student) for student in students)
        return
    # A spawned process inherits none of this process's threads, such as a progress bar's.
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn")) as pool:
        yield from pool.map(_give_feedback, repeat((course.root, course.folder, lab)), students)


def _give_feedback(where: tuple[Path, Path, str], student: str) -> Feedback:
    root, folder, lab = where
    return give_feedback(find_course(root, folder), lab, student)


def _shown(course: Course, lab: str, student: str) -> str:
    """Return a digest of everything that a feedback page shows, and of the submission that it is about.

    The graded notebook, its time and the submission's secret come from files; points, comments and the late penalty
    come from the gradebook.
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
