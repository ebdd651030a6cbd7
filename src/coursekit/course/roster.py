"""The roster: who takes part, from a CSV file as platforms and spreadsheets write it."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.submission.student_folder import ID

ROSTER = "roster.csv"
# Headers in lower case without anything but letters and digits, the likeliest first: so Canvas's ID is the number of
# the platform where there is a SIS Login ID, and the account in a file that has no other.
HEADERS = {
    "id": ("sisloginid", "username", "login", "id"),
    "first_name": ("firstname", "givenname"),
    "last_name": ("lastname", "surname", "familyname", "name", "student"),
    "email": ("email", "emailaddress", "mail"),
    "lms_user_id": ("lmsuserid", "idnumber", "id"),
    "team": ("team",),  # and no group: so platforms call parts of a class
}
NOBODY = ("Points Possible", "Student, Test")  # rows of Canvas's gradebook that are no students'


@dataclass(frozen=True)
class Student:
    """One line of the roster; `id` is the name of the account that hands in, who share a `team` hand in together."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    team: str = field(default="", kw_only=True)


ALL_COLUMNS = tuple(column.name for column in fields(Student))
COLUMNS = ALL_COLUMNS[:-1]  # which nbgrader's gradebook has, too


def folded(name: str) -> str:
    """Return what all spellings of an account's name share: a hub, a platform or a Mac may change case or composition.

    Two names are one person if this is equal; the roster's spelling is the one that is kept.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def speller(ids: Iterable[str]) -> Callable[[str], str]:
    """Return what gives any spelling of one of these ids its own, and leaves other names as they are."""
    known = dict.fromkeys(ids)  # a gradebook of before may hold two spellings
    own = {folded(one): one for one in known}
    return lambda name: name if name in known else own.get(folded(name), name)


def read_roster(path: Path) -> tuple[Student, ...]:
    """Read a roster.

    The columns may stand in any order, be called as platforms call them, and be parted by commas, semicolons or tabs;
    unknown columns are left out, and rows of Canvas's gradebook that are no student's. Only the id must be there.

    Raises:
        CourseKitError: anything is wrong; the message begins with file and line.
    """
    rows = _rows(path)
    line, header = next(rows, (1, []))
    columns = _columns(header)
    if "id" not in columns:
        seen = ", ".join(header) or "nothing"
        raise _fault(path, line, f"no column is called id; the header says {seen}: name the column of account names id")
    students: dict[str, Student] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        if any(value.strip() for value in row[len(header) :]):
            raise _fault(path, line, f"{len(row)} values stand under {len(header)} columns: put texts in quotes")
        values = {name: row[i].strip() for name, i in columns.items() if i < len(row)}
        if not any(values.values()) or values.get("last_name") in NOBODY:
            continue
        if "first_name" not in columns:  # a name in one column may be "Last, First"
            last, _, first = values.get("last_name", "").partition(",")
            values |= {"last_name": last.strip(), "first_name": first.strip()}
        student = Student(**values)
        if not ID.fullmatch(student.id):
            words = f"{student.id!r} is not an id: use the account's name, of letters, digits and . _ - @"
            raise _fault(path, line, words)
        same = folded(student.id)
        if same in students:
            there = f"{students[same].id!r} in line {lines[same]}"
            raise _fault(path, line, f"the id {student.id!r} and {there} are one person on most systems: keep one")
        students[same], lines[same] = student, line
    if not students:
        raise _fault(path, 1, "there is no student: write one line for each below the header")
    return tuple(students.values())


def write_roster(path: Path, students: Sequence[Student]) -> None:
    """Write a roster in one step."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    columns = ALL_COLUMNS if any(student.team for student in students) else COLUMNS
    writer.writerow(columns)
    writer.writerows([getattr(student, name) for name in columns] for student in students)
    write_file(path, text.getvalue().encode())


def columns_of(entry: Any) -> dict[str, str]:
    """Return what the gradebook knows of a student, by the roster's columns; '' for nothing."""
    return {name: getattr(entry, name) or "" for name in COLUMNS}


def new_students(known: Iterable[str], students: Iterable[Student]) -> tuple[Student, ...]:
    """Return the students whose ids are not known to the course.

    Raises:
        CourseKitError: an id is another spelling of a known one.
    """
    known = set(known)
    spelled = speller(known)
    for student in students:
        if (there := spelled(student.id)) != student.id:
            raise CourseKitError(
                f"the roster has {student.id!r}, and the course {there!r}, one person on most systems: "
                f"write {there!r} in the roster."
            )
    return tuple(student for student in students if student.id not in known)


def _rows(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror
        raise CourseKitError(f"{path} cannot be read ({reason}): export the roster of your course as CSV.") from None
    except UnicodeDecodeError:
        raise CourseKitError(f"{path} is not text in UTF-8: save it again as CSV in UTF-8.") from None
    text = unicodedata.normalize("NFC", text)
    first = re.sub('"[^"]*"', "", next(iter(text.splitlines()), ""))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise _fault(path, reader.line_num, f"this is not valid CSV ({error})") from None


def _columns(header: Sequence[str]) -> dict[str, int]:
    """Return where each value of a student stands."""
    plain = [re.sub(r"[\W_]", "", title.lower()) for title in header]
    columns: dict[str, int] = {}
    for name, titles in HEADERS.items():
        places = [plain.index(title) for title in titles if title in plain]
        free = [place for place in places if place not in columns.values()]
        if free:
            columns[name] = free[0]
    return columns


def _fault(path: Path, line: int, sentence: str) -> CourseKitError:
    return CourseKitError(f"{path}:{line}: {sentence}.")
