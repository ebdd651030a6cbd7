"""The roster: who takes part, from a CSV file as platforms and spreadsheets write it."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

from coursekit.errors import CourseKitError
from coursekit.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

ROSTER = "roster.csv"
ID = re.compile(r"\w[\w.@-]{0,127}")
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
MAX_LENGTH = 128  # of nbgrader's columns

# Headers in lower case without anything but letters and digits.
HEADERS = {
    "id": ("id", "studentid", "student", "username", "user", "login", "account", "benutzername", "kennung"),
    "first_name": ("firstname", "first", "givenname", "forename", "vorname"),
    "last_name": ("lastname", "last", "surname", "familyname", "nachname", "name"),
    "email": ("email", "mail", "emailaddress", "emailadresse"),
    "lms_user_id": ("lmsuserid", "lmsid", "idnumber", "canvasid", "sisuserid", "matrikelnummer"),
}


@dataclass(frozen=True)
class Student:
    """One line of the roster; `id` is the name of the account that hands in."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


COLUMNS = tuple(field.name for field in fields(Student))


def read_roster(path: Path, guesses: list[str] | None = None) -> tuple[Student, ...]:
    """Read a roster; into `guesses` comes a line for each column whose header is not the roster's own name for it.

    The columns may stand in any order, be called by other usual names, and be parted by commas, semicolons or tabs;
    unknown columns are left out. Only the id must be there.

    Raises:
        CourseKitError: anything is wrong; the message begins with file and line.
    """
    rows = _rows(path)
    header_line, header = next(rows, (1, ()))
    columns = _columns(path, header_line, header)
    if guesses is not None:
        guesses += _guesses(columns, header)
    students: dict[str, Student] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        if not any(value.strip() for value in row):
            continue
        if len(row) > len(header):
            raise _fault(path, line, f"{len(row)} values stand under {len(header)} columns: put texts in quotes")
        values = {name: row[i].strip() for i, name in columns.items() if i < len(row)}
        student = Student(**values)
        _check(path, line, student)
        same = student.id.casefold()
        if same in students:
            there = students[same].id
            spelled = "" if there == student.id else f" as {there!r}, one person on most systems"
            raise _fault(path, line, f"the id {student.id!r} stands in line {lines[same]} already{spelled}: keep one")
        students[same], lines[same] = student, line
    if not students:
        raise _fault(path, header_line, "there is no student: write one line for each below the header")
    return tuple(students.values())


def write_roster(path: Path, students: Iterable[Student]) -> None:
    """Write a roster in one step."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(astuple(student) for student in students)
    write_file(path, text.getvalue().encode())


def columns_of(entry: Any) -> dict[str, str]:
    """Return what the gradebook knows of a student, by the roster's columns; '' for nothing."""
    return {name: getattr(entry, name) or "" for name in COLUMNS}


def merge(old: Sequence[Student], new: Sequence[Student]) -> tuple[tuple[Student, ...], tuple[str, ...]]:
    """Return the old students followed by those that are new, and the ids of known ones that differ now.

    Raises:
        CourseKitError: an id differs from a known one only in capitals.
    """
    known = {student.id: student for student in old}
    folded = {student.id.casefold(): student.id for student in old}
    for student in new:
        there = folded.get(student.id.casefold(), student.id)
        if there != student.id:
            raise CourseKitError(
                f"the roster has {student.id!r}, and the course {there!r}, one person on most systems: keep one."
            )
    added = [student for student in new if student.id not in known]
    differing = tuple(student.id for student in new if student.id in known and known[student.id] != student)
    return (*old, *added), differing


def _rows(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CourseKitError(f"{path} is missing: export the roster of your course as CSV.") from None
    except UnicodeDecodeError:
        raise CourseKitError(f"{path} is not text in UTF-8: save it again as CSV in UTF-8.") from None
    except OSError as error:
        raise CourseKitError(f"{path} cannot be read ({error.strerror}): export the roster again as CSV.") from None
    first = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise _fault(path, reader.line_num, f"this is not valid CSV ({error})") from None


def _columns(path: Path, line: int, header: Sequence[str]) -> Mapping[int, str]:
    columns: dict[int, str] = {}
    for i, title in enumerate(header):
        plain = re.sub(r"[\W_]", "", title.lower())
        name = next((name for name, titles in HEADERS.items() if plain in titles), None)
        if name is None:
            continue
        if name in columns.values():
            raise _fault(path, line, f"two columns are taken for {name!r}; one of them is {title!r}: rename one")
        columns[i] = name
    if "id" not in columns.values():
        seen = ", ".join(header) or "nothing"
        raise _fault(path, line, f"no column is called id; the header says {seen}: name the column of account names id")
    return columns


def _guesses(columns: Mapping[int, str], header: Sequence[str]) -> list[str]:
    taken = [f"{title.strip()!r} for {columns[i]}" for i, title in enumerate(header) if columns.get(i, title) != title]
    left = [repr(title.strip()) for i, title in enumerate(header) if i not in columns]
    parts = (("column {}", taken), ("left out {}", left))
    return [words.format(", ".join(titles)) for words, titles in parts if titles]


def _check(path: Path, line: int, student: Student) -> None:
    if not ID.fullmatch(student.id):
        raise _fault(path, line, f"{student.id!r} is not an id: use the account's name, of letters, digits and . _ - @")
    for name, value in zip(COLUMNS, astuple(student)):
        if len(value) > MAX_LENGTH:
            raise _fault(path, line, f"{name} is longer than {MAX_LENGTH} characters")
        if any(unicodedata.category(one) == "Cc" for one in value):
            raise _fault(path, line, f"{name} {value!r} holds a control character: remove it")
    if student.email and not EMAIL.fullmatch(student.email):
        raise _fault(path, line, f"{student.email!r} is not an e-mail address: correct it or leave it empty")


def _fault(path: Path, line: int, sentence: str) -> CourseKitError:
    return CourseKitError(f"{path}:{line}: {sentence}.")
