"""Before a new version of a lab is released or used for grading, compare its cells with those in the gradebook."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from coursekit.course.folder import Course
from coursekit.errors import CourseKitError
from coursekit.labs.cells import cell_name, is_grade, is_solution
from coursekit.text import first_few

KEPT = ("grade", "solution", "locked", "task")  # nbgrader's own marks for cells that it keeps


def refuse_other_cells(course: Course, lab: str, notebook: NotebookNode) -> None:
    """Raise an error if a lab already has points and its new version does not have the same cells as the gradebook.

    `notebook` is the students' version to be released. nbgrader would also refuse it, but only after removing the
    earlier release.
    """
    with course.gradebook() as gradebook:
        kept = _with_points(gradebook, lab)
        if not kept:
            return
        cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
        pairs = (
            (kept.grade_cells, filter(is_grade, cells)),
            (kept.solution_cells, filter(is_solution, cells)),
            (kept.source_cells, (cell for cell in cells if any(map(cell.metadata.nbgrader.get, KEPT)))),
        )
        other = {name for old, new in pairs for name in {one.name for one in old} ^ set(map(cell_name, new))}
    if other:
        raise CourseKitError(
            f"{lab} has points in the gradebook, so nbgrader no longer allows cells to be added, removed or renamed "
            f"({first_few(sorted(other))}): undo that, or release it as a lab with another name.",
            "lab.has-points",
        )


@contextmanager
def keeping_points(course: Course, lab: str) -> Iterator[None]:
    """Run the block; if the lab has been graded, restore the maximum points of its tests to what they were before.

    Only grading may change these maxima, so that a class's points are never shown next to a maximum that did not apply
    when the class was graded.
    """
    with course.gradebook() as gradebook:
        before = {cell.name: cell.max_score for cell in _test_cells(_with_points(gradebook, lab))}
    try:
        yield
    finally:  # nbgrader may fail after it has written new maxima
        with course.gradebook() as gradebook:
            for cell in _test_cells(_with_points(gradebook, lab)):
                cell.max_score = before.get(cell.name, cell.max_score)
            gradebook.db.commit()


def _with_points(gradebook: Any, lab: str) -> Any:
    """Return the gradebook's entry for a lab's notebook if there are points for it, else None."""
    from nbgrader.api import MissingEntry

    with suppress(MissingEntry):
        kept = gradebook.find_notebook(lab, lab)
        return kept if kept.submissions else None
    return None


def _test_cells(kept: Any) -> list[Any]:
    answers = {cell.name for cell in kept.solution_cells} if kept else set()
    return [cell for cell in kept.grade_cells if cell.name not in answers] if kept else []


def refuse_other_points(course: Course, sources: Mapping[str, Path], students: Collection[str]) -> None:
    """Raise an error if changes to a lab's graded cells rule out this grading.

    `sources` maps each lab to its notebook with hidden tests. No graded cell may have been added, removed or renamed
    since the release. Points of the cells may have changed, but then the hand-ins of all students must be graded,
    because grading also records the maximum points of each test, which apply to all students.
    """
    with course.gradebook() as gradebook:
        kept = {
            assignment.name: {cell.name: cell.max_score for book in assignment.notebooks for cell in book.grade_cells}
            for assignment in gradebook.assignments
        }
    for lab, source in sources.items():
        if not course.students_in("submitted", lab):
            continue
        cells = filter(is_grade, nbformat.read(source, as_version=4).cells)
        now = {cell_name(cell): cell.metadata.nbgrader.points for cell in cells}
        before, number = kept.get(lab, {}), lab[:2]
        if before and before.keys() != now.keys():
            raise CourseKitError(
                f"{lab} has other graded cells than its release ({first_few(sorted(before.keys() ^ now.keys()))}): "
                f"release it again with `coursekit course release {number} --force`, or undo the change.",
                "lab.other-cells",
            )
        if students and (moved := [name for name in before if before[name] != now[name]]):
            raise CourseKitError(
                f"the points of {first_few(moved)} in {lab} have changed: grade all hand-ins by the new points, "
                f"with `coursekit grade {number}`.",
                "lab.other-points",
            )
