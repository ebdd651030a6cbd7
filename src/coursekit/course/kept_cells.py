"""What the gradebook keeps of a lab's cells, held against another version before that is released or graded by."""

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

KEPT = ("grade", "solution", "locked", "task")  # nbgrader's own marks of cells that it keeps


def refuse_other_cells(course: Course, lab: str, notebook: NotebookNode) -> None:
    """Refuse to release a notebook, as students get it, whose cells are not those that there are points for.

    nbgrader would refuse it, too, after it has removed the release of before.
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
            f"{lab} has points in the gradebook, and from then on nbgrader lets no cell be added, removed or renamed "
            f"({first_few(sorted(other))}): undo that, or release it as a lab with another name.",
            "lab.has-points",
        )


@contextmanager
def keeping_points(course: Course, lab: str) -> Iterator[None]:
    """Let test cells keep their points within the block where there are points for them; grading takes new ones over.

    So what a class has is never told beside a maximum that it was not graded by.
    """
    with course.gradebook() as gradebook:
        before = {cell.name: cell.max_score for cell in _test_cells(_with_points(gradebook, lab))}
    try:
        yield
    finally:  # nbgrader may fail after it has written the new ones
        with course.gradebook() as gradebook:
            for cell in _test_cells(_with_points(gradebook, lab)):
                cell.max_score = before.get(cell.name, cell.max_score)
            gradebook.db.commit()


def _with_points(gradebook: Any, lab: str) -> Any:
    """Return nbgrader's notebook of a lab if there are points for it, else None."""
    from nbgrader.api import MissingEntry

    with suppress(MissingEntry):
        kept = gradebook.find_notebook(lab, lab)
        return kept if kept.submissions else None
    return None


def _test_cells(kept: Any) -> list[Any]:
    answers = {cell.name for cell in kept.solution_cells} if kept else set()
    return [cell for cell in kept.grade_cells if cell.name not in answers] if kept else []


def refuse_other_points(course: Course, sources: Mapping[str, Path], students: Collection[str]) -> None:
    """Refuse to grade by tests that the gradebook has no place for, and some students alone by other points.

    `sources` holds by lab its notebook with hidden tests. Grading records them, and the most that they can be.
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
                f"{lab} has other graded cells than were released ({first_few(sorted(before.keys() ^ now.keys()))}): "
                f"release it again, `coursekit course release {number} --force`, or undo that.",
                "lab.other-cells",
            )
        if students and (moved := [name for name in before if before[name] != now[name]]):
            raise CourseKitError(
                f"the points of {first_few(moved)} in {lab} have changed: grade all hand-ins by them, "
                f"`coursekit grade {number}`.",
                "lab.other-points",
            )
