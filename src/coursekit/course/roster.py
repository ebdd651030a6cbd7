"""The roster: who takes part, from a CSV file as platforms and spreadsheets write it."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.submission.student_folder import ID

ROSTER = "roster.csv"
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
MAX_LENGTH = 128  # of nbgrader's columns

# Headers in lower case without anything but letters and digits, in groups, the likeliest first: the first group with a
# column that is not taken yet counts. So Canvas's ID is no account's where there is a SIS Login ID, nor Blackboard's
# Student ID beside a Username. Beside English are German, Czech, French, Spanish and Italian, as Moodle says them.
HEADERS = {
    "id": (
        "sisloginid loginid",
        (
            "id username user login account benutzername anmeldename kennung uživatelskéjméno nomdutilisateur "
            "nombredeusuario nomeutente"
        ),
        "studentid student",
    ),
    "first_name": ("firstname first givenname forename vorname jméno křestníjméno prénom nombre nome",),
    "last_name": (
        "lastname last surname familyname nachname příjmení nom nomdefamille apellido apellidos cognome",
        "name fullname studentname",
        "student",
    ),
    "email": (
        (
            "email mail emailaddress emailadresse emailováadresa adressedecourriel courriel direccióndecorreo "
            "indirizzoemail"
        ),
    ),
    "lms_user_id": (
        "lmsuserid lmsid canvasid canvasuserid id",
        "idnumber idnummer matrikelnummer studentid",
        "sisuserid",
    ),
}
# Rows of Canvas's gradebook and of Blackboard's that are no students'.
NOBODY = re.compile(r"(Points Possible|Student, Test|Test Student|.*_previewuser)", re.IGNORECASE)
SEPARATOR = re.compile(r"sep=(.)\r?\n")  # a first line by which Excel is told the delimiter
UTF_16 = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True)
class Student:
    """One line of the roster; `id` is the name of the account that hands in."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


COLUMNS = tuple(field.name for field in fields(Student))


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


def read_roster(path: Path, guesses: list[str] | None = None) -> tuple[Student, ...]:
    """Read a roster; into `guesses` comes a line for each column whose header is not the roster's own name for it.

    The columns may stand in any order, be called by other usual names, and be parted by commas, semicolons or tabs;
    unknown columns are left out, and rows of a platform's gradebook that are no student's. Only the id must be there.

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
        if any(value.strip() for value in row[len(header) :]):
            raise _fault(path, line, f"{len(row)} values stand under {len(header)} columns: put texts in quotes")
        values = {name: row[i].strip() for i, name in columns.items() if i < len(row)}
        nobody = next(filter(NOBODY.fullmatch, values.values()), None)
        if nobody and guesses is not None:
            guesses.append(f"left out line {line}, {nobody!r}")
        if nobody or not any(values.values()):
            continue
        student = _student(values)
        _check(path, line, student)
        same = folded(student.id)
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
        CourseKitError: an id is another spelling of a known one.
    """
    known = {student.id: student for student in old}
    refuse_other_spellings(known, new)
    added = [student for student in new if student.id not in known]
    differing = tuple(student.id for student in new if student.id in known and known[student.id] != student)
    return (*old, *added), differing


def refuse_other_spellings(ids: Iterable[str], students: Iterable[Student]) -> None:
    """Refuse a student who is known to the course by an id that is spelled otherwise."""
    spelled = speller(ids)
    for student in students:
        if (there := spelled(student.id)) != student.id:
            raise CourseKitError(
                f"the roster has {student.id!r}, and the course {there!r}, one person on most systems: "
                f"write {there!r} in the roster."
            )


def _student(values: Mapping[str, str]) -> Student:
    """Return a student; a name in one column may be "Last, First"."""
    last, comma, first = values.get("last_name", "").partition(",")
    if comma and "first_name" not in values:
        return Student(**{**values, "last_name": last.strip(), "first_name": first.strip()})
    return Student(**values)


def _rows(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    try:
        data = path.read_bytes()
        text = data.decode(UTF_16.get(data[:2], "utf-16-le" if data[1:2] == b"\0" else "utf-8-sig"))
    except FileNotFoundError:
        raise CourseKitError(f"{path} is missing: export the roster of your course as CSV.") from None
    except UnicodeDecodeError:
        raise CourseKitError(f"{path} is not text in UTF-8: save it again as CSV in UTF-8.") from None
    except OSError as error:
        raise CourseKitError(f"{path} cannot be read ({error.strerror}): export the roster again as CSV.") from None
    text = unicodedata.normalize("NFC", text)
    told = SEPARATOR.match(text)
    first = re.sub('"[^"]*"', "", next(iter(text.lstrip().splitlines()), ""))
    delimiter = told[1] if told else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if not told or reader.line_num > 1:
                yield reader.line_num, row
    except csv.Error as error:
        raise _fault(path, reader.line_num, f"this is not valid CSV ({error})") from None


def _columns(path: Path, line: int, header: Sequence[str]) -> Mapping[int, str]:
    columns: dict[int, str] = {}
    plain = [re.sub(r"[\W_]", "", title.lower()) for title in header]
    for name, groups in HEADERS.items():
        candidates = (
            [i for i, title in enumerate(plain) if title in group.split() and i not in columns] for group in groups
        )
        found = next(filter(None, candidates), [])
        if len(found) > 1:
            raise _fault(
                path, line, f"two columns are taken for {name!r}; one of them is {header[found[1]]!r}: rename one"
            )
        columns.update(dict.fromkeys(found, name))
    if "id" not in columns.values():
        seen = ", ".join(header) or "nothing"
        raise _fault(path, line, f"no column is called id; the header says {seen}: name the column of account names id")
    return dict(sorted(columns.items()))


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
