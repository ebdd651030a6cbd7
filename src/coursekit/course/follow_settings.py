"""Make the gradebook agree with `course.toml` and `roster.csv`, and report differences, which formgrader may cause."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from coursekit.course.folder import Course
from coursekit.course.roster import COLUMNS, ROSTER
from coursekit.course.settings import SETTINGS
from coursekit.labs.lab import find_labs
from coursekit.times import shown


class Difference(NamedTuple):
    """A value in the gradebook (`other`) that differs from the value in the course's file (`counts`).

    `counts` is '' if the file has no such value.
    """

    whose: str
    what: str
    file: str
    counts: str
    other: str

    def __str__(self) -> str:
        value = f"is {self.counts}" if self.counts else "is not set"
        return (
            f"{self.whose}: the {self.what} {value} in {self.file}, which counts, but was {self.other} "
            f"in nbgrader's gradebook; to keep that, write it into {self.file} [gradebook.differs]"
        )


def differences(course: Course, gradebook: Any) -> Iterator[Difference]:
    """Yield a difference for every value in the gradebook that is not the same in the course's files."""
    for assignment in gradebook.assignments:
        due = course.due(assignment.name)
        if assignment.duedate and assignment.duedate != due:
            counts = shown(due) if due else ""
            yield Difference(assignment.name, "due date", SETTINGS, counts, shown(assignment.duedate))

    entries = {entry.id: entry for entry in gradebook.students}
    for student in course.students(gradebook):
        for name in COLUMNS[1:] if student.id in entries else ():
            counts, other = getattr(student, name), getattr(entries[student.id], name)
            if other and other != counts:
                yield Difference(student.id, name, ROSTER, counts, other)


def follow(course: Course) -> tuple[Difference, ...]:
    """Write the course's labs, due dates and students into the gradebook; return how the gradebook differed before."""
    from nbgrader.api import Student  # heavy

    with course.gradebook() as gradebook:
        found = tuple(differences(course, gradebook))
        for lab in find_labs(course.root):
            gradebook.update_or_create_assignment(lab.name).duedate = course.due(lab.name)
        entries = {entry.id: entry for entry in gradebook.students}
        for student in course.students(gradebook):
            entry = entries.get(student.id) or Student(id=student.id)
            for name in COLUMNS[1:]:
                setattr(entry, name, getattr(student, name) or None)
            gradebook.db.add(entry)
        gradebook.db.commit()  # only once, because nbgrader's own functions would commit for each student
    return found
