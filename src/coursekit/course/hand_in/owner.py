"""The owner of a downloaded file: the name that a platform gave it outranks what the file says of itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from coursekit.course.hand_in.packed import NotTakenError
from coursekit.course.roster import Student, speller
from coursekit.grading.verdict import Flag

# How `coursekit hand-in` names a file, <lab>--<user>--<time>, and whatever a second file of the same name got.
FILE_NAME = re.compile(r"(?P<lab>[a-z0-9-]+?)--(?P<user>.+?)--\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ.*")
# How each platform names the files of a download; Canvas and Moodle say it in their sources
# (lib/content_zipper.rb; download_submissions of mod/assign and clean_param of lib/moodlelib.php).
MOODLE, BLACKBOARD, CANVAS, CANVAS_ANONYMOUS = (
    # Ada Lovelace_1234_assignsubmission_file_(the student's own name): full name as the site shows it, without _ and
    # DROPPED, or "Participant" in its language while marking is blind; the number is not an id of the student.
    re.compile(r"(?P<name>[^_]+)(_\d+)?_assignsubmission_(file|onlinetext)(_.*)?"),
    # (the assignment)_ada_attempt_2026-11-16-12-00-00_(the student's own name): any part may hold _.
    re.compile(r"(?P<name>.+?_.+?)_attempt_\d{4}(-\d\d){5}(_.*)?"),
    # lovelaceada_LATE_(id of the user)_(id of the file)_(the student's own name): "Last, First", word characters only.
    re.compile(r"(?!(LATE_)?anon_)(?P<name>[^ .,'-]+?)_(LATE_)?(?P<id>\d+)_\d+_.+"),
    re.compile(r"(LATE_)?(?P<name>anon_[0-9A-Za-z]+)_\d+_.+"),
)
DROPPED = str.maketrans(dict.fromkeys("&<>\"`|':\\/\u2019"))  # of Moodle's file names, and a typeset apostrophe
SUFFIX = re.compile(r"(.+?),? +(jr|sr|ii|iii|iv)\.?")  # Canvas moves it behind the first name
COPY = re.compile(r"( ?\(\d+\)| - Copy)+$")
FURTHER = re.compile(r"[_ -]+\d.*")  # ada_02-horovod-sgd, but not Ada_Smith
NEAR, MAX_NEAR = 0.7, 3  # how alike names are that somebody may have mistyped
PUT = "put the file into a folder that is named by the student's id in the roster"


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
        others: Ids that it may also be meant for, though less likely.
        remark: What must hold if it is so; '' for nothing.
    """

    text: str
    students: frozenset[str]
    others: frozenset[str] = frozenset()
    remark: str = ""


def find_owner(parts: Sequence[str], claim: str, roster: Sequence[Student]) -> Owner:
    """Find the owner of a file.

    `parts` are the folders that it lies in, the outermost first, and its name without the suffix; `claim` is the
    account that its manifest names, '' if it names nobody.

    Raises:
        NotTakenError: the owner is not clear.
    """
    known = {student.id: student for student in roster}
    spelled = speller(known)
    claim = spelled(claim)
    own = [spelled(found["user"]) for part in parts for found in [FILE_NAME.fullmatch(part)] if found]
    marks = [mark for part in parts for mark in [_mark(part, roster)] if mark]
    if not marks:
        owner = _by_claim(claim, known, parts)
    elif marks[0].students:
        owner = _by_path(marks[0], claim, known)
    else:
        owner = _of_stranger(marks[0], claim, known.get(claim), near(marks[0].text, roster))
    named = {claim, *own, *(one for mark in marks for one in mark.students | mark.others)} & known.keys() - {
        owner.student
    }
    shown = "/".join(parts)
    flags = [
        Flag("owner", f"{shown!a} is taken for {owner.student}'s, and names {other} too.") for other in sorted(named)
    ]
    return replace(owner, flags=(*owner.flags, *flags))


def _by_path(mark: OwnerMark, claim: str, known: Container[str]) -> Owner:
    if len(mark.students) > 1:
        raise NotTakenError(f"{mark.text!a} fits {', '.join(sorted(mark.students))}: {PUT}")
    (student,) = mark.students
    packed = f"taken for {student}, as {mark.text!a} says; it was packed by {claim}"
    remarks = (mark.remark, packed if claim and claim not in known else "")
    return Owner(student, remarks=tuple(filter(None, remarks)))


def _by_claim(claim: str, known: Mapping[str, Student], parts: Sequence[str]) -> Owner:
    if not claim:
        raise NotTakenError(f"nothing says whose it is{near('_'.join(parts), known.values())}: {PUT}")
    if claim not in known:
        like = near(claim, known.values())
        raise NotTakenError(
            f"{claim} is not on the roster{like}: add them with `coursekit course init --roster`, or, if that is "
            f"another account of a student, {PUT}"
        )
    return Owner(claim, remarks=(f"taken for {claim}, as the file itself says, and nothing else does",))


def _of_stranger(mark: OwnerMark, claim: str, claimed: Student | None, near: str) -> Owner:
    """Return the owner if a platform names somebody whom the roster does not know by that name."""
    if claimed is None or claimed.first_name or claimed.last_name or claimed.lms_user_id:
        and_claim = f", and its manifest says {claim}" if claim else ""
        raise NotTakenError(
            f"it came from {mark.text!a}, whom the roster does not know by that name{near}{and_claim}: {PUT}; "
            "where marking is blind, let the platform show names, and download again"
        )
    return Owner(claim, (Flag("owner", f"It came from {mark.text!a} and names {claim}."),))


def _mark(part: str, roster: Sequence[Student]) -> OwnerMark | None:
    if FILE_NAME.fullmatch(part):
        return None
    part = unicodedata.normalize("NFC", part)
    readers = ((MOODLE, _by_moodle), (BLACKBOARD, _by_blackboard), (CANVAS, _by_canvas), (CANVAS_ANONYMOUS, _by_nobody))
    marks = [reader(found, roster) for pattern, reader in readers for found in [pattern.fullmatch(part)] if found]
    if marks:  # a student's own name for a file may look like another platform's
        first = next((mark for mark in marks if mark.students), marks[0])
        return replace(first, students=frozenset().union(*(mark.students for mark in marks)))
    students = _named(COPY.sub("", part), roster)
    return OwnerMark(part, students) if students else None


def _by_moodle(found: re.Match[str], roster: Sequence[Student]) -> OwnerMark:
    return OwnerMark(found["name"], _called(found["name"], roster, _plain))


def _by_blackboard(found: re.Match[str], roster: Sequence[Student]) -> OwnerMark:
    """Of user names that the name ends with, the longest is likeliest: `wang` is unlikely where `li_wang` exists."""
    name = _plain(found["name"])
    accounts = {account: one.id for one in roster for account in (_plain(one.id), _plain(one.email)) if account}
    ends = sorted((account for account in accounts if name.endswith(f"_{account}")), key=len)
    if not ends:
        return OwnerMark(found["name"], frozenset())
    student, assignment = accounts[ends[-1]], found["name"][: -len(ends[-1]) - 1]
    others = frozenset(accounts[account] for account in ends) - {student}
    remark = f"taken for {student}, if the assignment is called {assignment!a}" if "_" in assignment else ""
    return OwnerMark(found["name"], frozenset({student}), others, remark)


def _by_canvas(found: re.Match[str], roster: Sequence[Student]) -> OwnerMark:
    named = _called(found["name"], roster, _word_characters)
    numbered = frozenset(student.id for student in roster if student.lms_user_id == found["id"])
    return OwnerMark(f"{found['name']}, {found['id']}", named & numbered or named | numbered)


def _by_nobody(found: re.Match[str], _roster: Sequence[Student]) -> OwnerMark:
    return OwnerMark(found["name"], frozenset())


def _called(text: str, roster: Sequence[Student], written: Callable[[str], str]) -> frozenset[str]:
    """Return whom a platform calls so: by their name, or by their id if the roster has no name for them."""
    wanted = written(text)
    return frozenset(
        one.id for one in roster if wanted and wanted in {written(name) for name in _full_names(one) or {one.id}}
    )


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


def near(text: str, roster: Iterable[Student]) -> str:
    """Return the ids whose own or whose student's name is spelled nearly so, as a clause; '' if none is."""
    names = {name: student.id for student in roster for name in _names(student)}
    words = (_plain(text), *_plain(text).split("_"))
    found = sorted({names[name] for word in words for name in get_close_matches(word, names, MAX_NEAR, NEAR)})
    return f"; the ids that come near are {', '.join(found)}" if found else ""


def _names(student: Student) -> set[str]:
    return {_plain(name) for name in (student.id, student.email, *_full_names(student)) if name}


def _full_names(student: Student) -> set[str]:
    """Return a student's name in the orders in which platforms write it; none if the roster has none."""
    first, last = (_plain(name.replace("_", " ")) for name in (student.first_name, student.last_name))
    pairs = [(first, last)]
    for one, other, is_last in ((last, first, True), (first, last, False)):
        if found := SUFFIX.fullmatch(one):
            moved = f"{other} {found[2]}"
            pairs.append((moved, found[1]) if is_last else (found[1], moved))
    orders = {text for first, last in pairs for text in (f"{first} {last}", f"{last} {first}", f"{last}, {first}")}
    return {text.strip(", ") for text in orders} - {""}


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().translate(DROPPED)
    return unicodedata.normalize("NFC", " ".join(folded.split()))


def _word_characters(text: str) -> str:
    return re.sub(r"[\W_]", "", _plain(text))
