"""Feedback: a page for each graded hand-in, by nbgrader, and back to its student through the exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.course.export import to_csv
from coursekit.course.folder import succeed
from coursekit.files import write_file
from coursekit.grading.submission.times import SECRET

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from coursekit.course.folder import Course


def graded_students(course: Course, lab: str, students: Collection[str] = ()) -> tuple[str, ...]:
    """Return the students whose hand-in of a lab was graded, of these or of all."""
    found = course.students_in("autograded", f"{lab}/{lab}.ipynb")
    return tuple(sorted(found & set(students) if students else found))


def give_feedback(course: Course, lab: str, student: str) -> tuple[Path, bool]:
    """Make the page of one student, and release it.

    Returns:
        The page, and whether its student can fetch it: what did not come through the exchange cannot go back there.

    Raises:
        CourseKitError: nbgrader fails.
    """
    api = course.api()
    succeed(f"make the feedback of {student}, {lab}", api.generate_feedback(lab, student, force=True))
    folder = course.folder / "feedback" / student / lab
    goes_back = (folder / SECRET).is_file()
    if goes_back:
        succeed(f"release the feedback of {student}, {lab}", api.release_feedback(lab, student))
    return folder / f"{lab}.html", goes_back


def write_folder(course: Course, pages: Iterable[tuple[str, Path]], into: Path) -> None:
    """Copy pages of students into one folder, named by student and lab, with the address for each in addresses.csv."""
    with course.gradebook() as gradebook:
        addresses = {student.id: student.email or "" for student in gradebook.students}
    rows = [("id", "email", "file")]
    for student, page in pages:
        rows.append((student, addresses.get(student, ""), f"{student}_{page.name}"))
        write_file(into / rows[-1][-1], page.read_bytes())
    write_file(into / "addresses.csv", to_csv(rows).encode())
