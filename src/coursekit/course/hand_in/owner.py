"""The owner of a downloaded file: the name that a platform gave it outranks what the file says of itself."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from coursekit.course.hand_in.manifest import FILE_NAME
from coursekit.errors import CourseKitError
from coursekit.grading.verdict import Flag

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from coursekit.course.roster import Student

PLATFORMS = (
    # Moodle: Ada Lovelace_1234_assignsubmission_file_(the student's own name); the number is not an id of the student.
    re.compile(r"(?P<name>.+?)_\d+_assignsubmission_(file|onlinetext)(_.*)?"),
    # Blackboard: (the assignment)_ada_attempt_2026-11-16-12-00-00_(the student's own name)
    re.compile(r".+?_(?P<name>[^_]+)_attempt_\d{4}(-\d\d){5}(_.*)?"),
    # Canvas: lovelaceada_LATE_(id of the user)_(id of the file)_(the student's own name)
    re.compile(r"(?P<name>[^_]+)_(LATE_)?(?P<id>\d+)_\d+_.+"),
)
COPY = re.compile(r"( ?\(\d+\)| - Copy)+$")
FURTHER = re.compile(r"[_ -]+\d.*")  # ada_02-horovod-sgd, but not Ada_Smith
NEAR, MAX_NEAR = 0.7, 3  # how alike names are that somebody may have mistyped
PUT = "put the file into a folder that is named by the student's id in the roster"


class NotTakenError(CourseKitError):
    """A file is not taken; the message says why, and what to do."""


@dataclass(frozen=True)
class Owner:
    """Whose a file is.

    Attributes:
        student: Id of the student.
        flags: What an instructor should look at when grading.
        remarks: One sentence for each thing that only collecting shows.
    """

    student: str
    flags: tuple[Flag, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnerMark:
    """One part of a path that may name a student.

    Attributes:
        text: The part that names one.
        students: Ids that fit it; none, if a learning platform names somebody whom the roster does not know.
    """

    text: str
    students: frozenset[str]


def find_owner(parts: Sequence[str], claim: str, roster: Sequence[Student]) -> Owner:
    """Find the owner of a file.

    `parts` are the folders that it lies in, the outermost first, and its name without the suffix; `claim` is the
    account that its manifest names, '' if it names nobody.

    Raises:
        NotTakenError: the owner is not clear.
    """
    known = {student.id: student for student in roster}
    own = [found["user"] for part in parts for found in [FILE_NAME.fullmatch(part)] if found]
    marks = [mark for part in parts for mark in [_mark(part, roster)] if mark]
    if not marks:
        owner = _by_claim(claim, known, parts)
    elif marks[0].students:
        owner = _by_path(marks[0], claim, known)
    else:
        owner = _of_stranger(marks[0], claim, known.get(claim), _near(marks[0].text, roster))
    named = {claim, *own, *(one for mark in marks for one in mark.students)} & known.keys() - {owner.student}
    shown = "/".join(parts)
    flags = [
        Flag("owner", f"{shown!a} is taken for {owner.student}'s, and names {other} too.") for other in sorted(named)
    ]
    return replace(owner, flags=(*owner.flags, *flags))


def _by_path(mark: OwnerMark, claim: str, known: Container[str]) -> Owner:
    if len(mark.students) > 1:
        raise NotTakenError(f"{mark.text!a} fits {', '.join(sorted(mark.students))}: {PUT}")
    (student,) = mark.students
    if not claim or claim in known:
        return Owner(student)
    return Owner(student, remarks=(f"taken for {student}, as {mark.text!a} says; it was packed by {claim}",))


def _by_claim(claim: str, known: Mapping[str, Student], parts: Sequence[str]) -> Owner:
    if not claim:
        raise NotTakenError(f"nothing says whose it is{_near('_'.join(parts), known.values())}: {PUT}")
    near = _near(claim, known.values())
    if claim not in known:
        raise NotTakenError(
            f"{claim} is not on the roster{near}: add them with `coursekit course init --roster`, or, if that is "
            f"another account of a student, {PUT}"
        )
    return Owner(claim, remarks=(f"taken for {claim}, as the file itself says, and nothing else does",))


def _of_stranger(mark: OwnerMark, claim: str, claimed: Student | None, near: str) -> Owner:
    """Return the owner if a platform names somebody whom the roster does not know by that name."""
    if claimed is None or claimed.first_name or claimed.last_name or claimed.lms_user_id:
        and_claim = f", and its manifest says {claim}" if claim else ""
        raise NotTakenError(
            f"it came from {mark.text!a}, whom the roster does not know by that name{near}{and_claim}: {PUT}"
        )
    return Owner(claim, (Flag("owner", f"It came from {mark.text!a} and names {claim}."),))


def _mark(part: str, roster: Sequence[Student]) -> OwnerMark | None:
    if FILE_NAME.fullmatch(part):
        return None
    found = next((match for pattern in PLATFORMS for match in [pattern.fullmatch(part)] if match), None)
    if not found:
        text = COPY.sub("", part)
        students = _named(text, roster)
        return OwnerMark(text, students) if students else None
    named, number = _named(found["name"], roster), found.groupdict().get("id")
    if number is None:
        return OwnerMark(found["name"], named)
    numbered = frozenset(student.id for student in roster if student.lms_user_id == number)
    return OwnerMark(f"{found['name']}, {number}", named & numbered or named | numbered)


def _named(text: str, roster: Sequence[Student]) -> frozenset[str]:
    """Return the students whose id, address or full name this is, else those whose id it begins with."""
    wanted = _plain(text)
    found = frozenset(student.id for student in roster if wanted in _names(student))
    if found:
        return found
    ids = [student.id for student in roster if wanted.startswith(_plain(student.id))]
    begun = [student for student in ids if FURTHER.fullmatch(wanted[len(_plain(student)) :])]
    longest = max(map(len, begun), default=0)
    return frozenset(student for student in begun if len(student) == longest)


def _near(text: str, roster: Iterable[Student]) -> str:
    """Return the ids whose own or whose student's name is spelled nearly so, as a clause; '' if none is."""
    names = {name: student.id for student in roster for name in _names(student)}
    words = (_plain(text), *_plain(text).split("_"))
    found = sorted({names[name] for word in words for name in get_close_matches(word, names, MAX_NEAR, NEAR)})
    return f"; the ids that come near are {', '.join(found)}" if found else ""


def _names(student: Student) -> set[str]:
    first, last = _plain(student.first_name), _plain(student.last_name)
    full = {f"{first} {last}", f"{last} {first}", f"{last}, {first}", f"{last}{first}".replace(" ", "")}
    return {_plain(student.id), *({_plain(student.email)} - {""}), *(full if first and last else ())}


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
