"""Release labs: nbgrader records them in the gradebook, and students find in the exchange what lies in labs/."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import nbformat

from coursekit.course.due import sync_due_dates
from coursekit.course.folder import succeed
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.submission.students_files import SKIPPED
from coursekit.labs.build.build import build_sources, finish

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from coursekit.course.folder import Course
    from coursekit.labs.lab import Lab

RELEASED, RELEASED_AGAIN, UNCHANGED = "released", "released again", "unchanged"
NEW_DATE = "unchanged but for its due date"


def release(course: Course, lab: Lab, *, force: bool = False) -> str:
    """Release one lab to the exchange; with `force` also other files than those that were released before.

    Returns:
        What was done: `RELEASED`, `RELEASED_AGAIN`, `UNCHANGED` or `NEW_DATE`.

    Raises:
        CourseKitError: labs/ is stale, nbgrader refuses the lab, or another version was released before.
    """
    build_sources(course.root, [lab])
    with course.gradebook() as gradebook:
        has_new_date = lab.name in sync_due_dates(course, gradebook)
    api = course.api()
    succeed(f"make the release of {lab.name}", api.generate_assignment(lab.name))
    made, committed = course.folder / "release" / lab.name, course.root / "labs" / lab.name
    _refuse_stale(lab.name, made, committed)
    _copy(committed, made)

    outbound = course.outbound(lab.name)
    is_out = outbound.is_dir()
    if is_out and _files(outbound) == _files(made):
        return NEW_DATE if has_new_date else UNCHANGED
    if is_out and not force:
        raise CourseKitError(
            f"{lab.name} was released before and students may have fetched it: "
            "`--force` gives the new version to those who fetch it from now on."
        )
    api.config.ExchangeReleaseAssignment.force = is_out
    succeed(f"release {lab.name} to the exchange", api.release_assignment(lab.name))
    return RELEASED_AGAIN if is_out else RELEASED


def take_back(course: Course, lab: str) -> None:
    """Take a lab out of the exchange; gradebook, hand-ins and what students have fetched stay.

    Raises:
        CourseKitError: it is not in there.
    """
    if not course.outbound(lab).is_dir():
        raise CourseKitError(f"{lab} is not released, so there is nothing to take back.")
    shutil.rmtree(course.outbound(lab))


def _refuse_stale(lab: str, made: Path, committed: Path) -> None:
    """Hold what students get against what the solutions make; only what the builder does after nbgrader may differ."""
    notebook = f"{lab}.ipynb"
    fresh = (committed / notebook).is_file()
    fresh = fresh and finish(_read(made / notebook)).cells == _read(committed / notebook).cells
    others = [{name: data for name, data in _files(folder).items() if name != notebook} for folder in (made, committed)]
    if not fresh or others[0] != others[1]:
        raise CourseKitError(f"labs/{lab} is not what solutions/{lab} makes: run `coursekit build {lab[:2]}` first.")


def _read(notebook: Path) -> Any:
    return nbformat.read(notebook, as_version=4)


def _files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and not set(path.parts) & set(SKIPPED))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _copy(committed: Path, made: Path) -> None:
    """Put the committed files into the release, byte by byte."""
    for name, data in _files(committed).items():
        write_file(made / name, data, mode=0o644)
    for path in made.glob("*"):
        if path.is_dir() and path.name in SKIPPED:
            shutil.rmtree(path)
