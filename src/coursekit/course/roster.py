"""The roster: the list of students, read from a CSV file that a learning platform or a spreadsheet wrote."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.submission.student_folder import ID

ROSTER = "roster.csv"
# English and French headers, in lower case and with only letters and digits, the likeliest first. Because of this
# order, Canvas's ID is read as the platform's number if the file also has a SIS Login ID, and as the account if no
# other column holds the account.
HEADERS = {
    "id": ("sisloginid", "username", "nomdutilisateur", "login", "identifiant", "id"),
    "first_name": ("firstname", "givenname", "prénom", "prenom"),
    "last_name": ("lastname", "surname", "familyname", "nomdefamille", "name", "nom", "student"),
    "email": ("email", "emailaddress", "mail", "courriel", "adressedecourriel"),
    "lms_user_id": ("lmsuserid", "idnumber", "numérodidentification", "id"),
    "team": ("team",),  # not group, the platforms' name for a part of a class
}
TITLES = {title for titles in HEADERS.values() for title in titles}
SEPARATOR = re.compile(r'"?sep=(?P<sign>.)"?\s*')  # a first line that tells Excel how columns are separated
# Some rows of Canvas's gradebook are not students: Canvas's own rows, which have no id, and the test student's row.
TEST_STUDENTS = ("Student, Test", "Étudiant, Test")
TEST_LOGIN = re.compile(r"[0-9a-f]{32,40}")


@dataclass(frozen=True)
class Student:
    """One line of the roster: `id` is the student's account, and students with the same `team` hand in together."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    team: str = field(default="", kw_only=True)


ALL_COLUMNS = tuple(column.name for column in fields(Student))
COLUMNS = ALL_COLUMNS[:-1]  # the columns that nbgrader's gradebook also has


class RosterError(CourseKitError):
    """A line of a roster is wrong."""

    def __init__(self, path: Path, line: int, sentence: str, code: str) -> None:
        super().__init__(f"{path}:{line}: {sentence}.", code)


def username_key(name: str) -> str:
    """Return a key for a name that depends neither on case nor on Unicode composition.

    Hubs, platforms and Macs may change both in a name. Two names with the same key belong to the same person; the
    roster's spelling is kept.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def canonical_usernames(ids: Iterable[str]) -> Callable[[str], str]:
    """Return a function that maps any spelling of one of these ids to that id, and leaves other names unchanged."""
    known = dict.fromkeys(ids)  # an older gradebook may hold two spellings of a name
    own = {username_key(one): one for one in known}
    return lambda name: name if name in known else own.get(username_key(name), name)


def read_roster(path: Path, left_out: list[str] | None = None) -> tuple[Student, ...]:
    """Return the students on a roster; a student without an id is an error, unless `left_out` is given.

    If `left_out` is given, it receives a sentence about each student without an id. Columns may be in any order, may
    have the names that platforms use, and may be separated by commas, semicolons or tabs. Unknown columns are ignored,
    as are the rows of Canvas's gradebook that are not students. Only the id is required.

    Raises:
        CourseKitError: the file or a line in it is wrong; the message begins with the file and, for a line, its number.
    """
    rows = _rows(path)
    line, header = next(rows, (1, []))
    columns = _columns(header)
    if "id" not in columns:
        seen = ", ".join(header) or "nothing"
        raise RosterError(
            path,
            line,
            f"no column is called id; the header has {seen}: call the column of account names id",
            "roster.no-id-column",
        )
    students: dict[str, Student] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        if any(value.strip() for value in row[len(header) :]):
            raise RosterError(
                path,
                line,
                f"there are {len(row)} values for {len(header)} columns: put texts in quotes",
                "roster.too-many-values",
            )
        values = _values(row, columns, is_canvas={"student", "section"} <= {*map(_plain, header)})
        if not any(values.values()):
            continue
        student = Student(**values)
        if not student.id and left_out is not None:
            who = " ".join(filter(None, (getattr(student, name) for name in COLUMNS)))
            left_out.append(
                f"{path}:{line}: {who} has no id and is left out: add one, and run the command again [roster.no-id]"
            )
            continue
        if not ID.fullmatch(student.id):
            raise RosterError(
                path,
                line,
                f"{student.id!r} is not an id: use the account's name, with only letters, digits and . _ - @",
                "roster.no-id",
            )
        same = username_key(student.id)
        if same in students:
            there = f"{students[same].id!r} in line {lines[same]}"
            raise RosterError(
                path,
                line,
                f"the id {student.id!r} and {there} are one person on most systems: keep only one",
                "roster.twice",
            )
        students[same], lines[same] = student, line
    if not students:
        what = "no student has an id" if left_out else "there is no student"
        raise RosterError(path, 1, f"{what}: write one line per student below the header", "roster.empty")
    return tuple(students.values())


def _values(row: Sequence[str], columns: Mapping[str, int], *, is_canvas: bool) -> dict[str, str]:
    """Return a row's values, keyed by the roster's columns; an empty dictionary if the row does not hold a student."""
    values = {name: row[i].strip() for name, i in columns.items() if i < len(row)}
    is_own = is_canvas and not values.get("id") and not values.get("lms_user_id")
    titles = [_plain(value) for value in values.values() if value]
    is_header = len(titles) > 1 and TITLES.issuperset(titles)
    if is_own or is_header or values.get("last_name") in TEST_STUDENTS or TEST_LOGIN.fullmatch(values.get("id", "")):
        return {}
    if "first_name" not in columns:  # a single column for the whole name may hold "Last, First"
        last, _, first = values.get("last_name", "").partition(",")
        values |= {"last_name": last.strip(), "first_name": first.strip()}
    return values


def write_roster(path: Path, students: Sequence[Student]) -> None:
    """Write the roster to a file; if that fails, the file stays as it was."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    columns = ALL_COLUMNS if any(student.team for student in students) else COLUMNS
    writer.writerow(columns)
    writer.writerows([getattr(student, name) for name in columns] for student in students)
    write_file(path, text.getvalue().encode())


def columns_of(entry: Any) -> dict[str, str]:
    """Return a student's values from the gradebook, keyed by the roster's columns; a missing value becomes ''."""
    return {name: getattr(entry, name) or "" for name in COLUMNS}


def new_students(known: Iterable[str], students: Iterable[Student]) -> tuple[Student, ...]:
    """Return the students whose ids are new to the course.

    Raises:
        CourseKitError: an id is another spelling of a known id.
    """
    known = set(known)
    canonical = canonical_usernames(known)
    for student in students:
        if (there := canonical(student.id)) != student.id:
            raise CourseKitError(
                f"the roster has {student.id!r}, but the course has {there!r}, one person on most systems: "
                f"write {there!r} in the roster.",
                "roster.other-spelling",
            )
    return tuple(student for student in students if student.id not in known)


def merged(
    old: Sequence[Student], listed: Sequence[Student], known: Iterable[str], *, update: bool
) -> tuple[tuple[Student, ...], list[tuple[str, str, str, str]]]:
    """Merge a list of students into the roster `old`; if `update` is true, the list's values replace the roster's.

    Ids in `known`, which the course already uses, for example in its gradebook, keep their spelling. Empty values in
    the list are ignored.

    Returns:
        The merged students and, for each difference, the id, the column, the roster's value and the list's value.
    """
    students = {student.id: student for student in old}
    canonical = canonical_usernames((*students, *known))
    found = []
    for one in listed:
        there = students.setdefault(canonical(one.id), replace(one, id=canonical(one.id)))
        values = {name: getattr(one, name) for name in ALL_COLUMNS[1:] if getattr(one, name)}
        other = {name: value for name, value in values.items() if value != getattr(there, name)}
        found += [(there.id, name, getattr(there, name), value) for name, value in other.items()]
        if update:
            students[there.id] = replace(there, **other)
    return tuple(students.values()), found


def _rows(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror
        raise CourseKitError(
            f"{path} cannot be read ({reason}): export the roster of your course as CSV.", "roster.not-readable"
        ) from None
    except UnicodeDecodeError:
        raise CourseKitError(
            f"{path} is not text in UTF-8: save it again as CSV in UTF-8.", "roster.not-utf8"
        ) from None
    text = unicodedata.normalize("NFC", text)
    first, _, rest = text.partition("\n")
    separator = SEPARATOR.fullmatch(first)
    text, num_before = (rest, 1) if separator else (text, 0)
    titles = re.sub('"[^"]*"', "", text.partition("\n")[0])
    sign = separator["sign"] if separator else max(",;\t", key=titles.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    try:
        for row in reader:
            yield reader.line_num + num_before, row
    except csv.Error as error:
        raise RosterError(
            path, reader.line_num + num_before, f"this is not valid CSV ({error})", "roster.no-csv"
        ) from None


def _columns(header: Sequence[str]) -> dict[str, int]:
    """Return, for each of the roster's columns that a file has, the column's position in the file's rows."""
    plain = [_plain(title) for title in header]
    columns: dict[str, int] = {}
    for name, titles in HEADERS.items():
        places = [plain.index(title) for title in titles if title in plain]
        free = [place for place in places if place not in columns.values()]
        if free:
            columns[name] = free[0]
    return columns


def _plain(title: str) -> str:
    plain = re.sub(r"[\W_]", "", title.lower())
    return "student" if plain == "étudiant" else plain
