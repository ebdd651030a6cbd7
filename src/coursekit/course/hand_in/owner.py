"""Find the student who owns a downloaded file, from its path or, if the path names nobody, from the file's content.

`names.py` decides which names are refused or changed.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from coursekit.course.hand_in.names import ENDING, NotImportedError
from coursekit.course.roster import Student, canonical_usernames, username_key
from coursekit.grading.verdict import Flag

# How platforms name the files of a download, according to their source code
# (Moodle: download_submissions of mod/assign; Canvas: lib/content_zipper.rb).
PLATFORMS = (
    # Ada Lovelace_1234_assignsubmission_file_(the student's own name): the number is not the student's id.
    # If teams hand in, the team's name comes before the student's: Team 1-Ada Lovelace.
    re.compile(r"(?P<name>[^_]+)(_\d+)?_assignsubmission_(file|onlinetext)(_.*)?"),
    # lovelaceada_LATE_(id of the user)_(id of the file)_(the student's own name); anonymous files name nobody.
    # The date in lab1_2026_11_28 must not be read as two ids.
    re.compile(r"(?!(LATE_)?anon_|.*_20\d\d_[01]?\d_[0-3]?\d(_|$))(?P<name>[^ .,'-]+?)_(LATE_)?(?P<id>\d+)_\d+_.+"),
    # Blackboard: Lab 1_(account)_attempt_2026-11-16-12-00-00_(the student's own name).
    re.compile(r"(?P<account>.+)_attempt_\d{4}(-\d\d){5}(_.*)?"),
)
PUT = "put the file into a folder named after the student's id in the roster"


@dataclass(frozen=True)
class Owner:
    """The owner of a file.

    Attributes:
        student: Id of the student.
        flags: Things that an instructor should look at when grading.
        remark: A sentence to report when the file is imported; '' if there is none.
    """

    student: str
    flags: tuple[Flag, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class _Mark:
    """The students named by one part of a path.

    Attributes:
        text: That part of the path.
        ids: Ids of the students whom that part fits; empty if a platform wrote that part and it fits nobody.
        is_exact: Whether that part is an id or an e-mail address, or was written by a platform; otherwise, it is only a
            person's name.
        is_platform: Whether a platform wrote that part.
    """

    text: str
    ids: frozenset[str]
    is_exact: bool = True
    is_platform: bool = False


def find_owner(parts: Sequence[str], claim: str, roster: Sequence[Student]) -> Owner:
    """Return the owner of a file.

    `parts` are the names of the folders that contain the file, the outermost first, and then the file's own name;
    `claim` is the account in its manifest, or '' if it has no manifest. An id in the path, or a part of the path that a
    platform wrote, counts more than a person's name, which may be a tutor's name. All of these count more than the
    claim.

    Raises:
        NotImportedError: the owner is not clear.
    """
    claim = canonical_usernames(student.id for student in roster)(claim)
    claimed = next((student for student in roster if student.id == claim), None)
    marks = [mark for part in parts[:-1] if (mark := _mark(part, roster))]
    if not any(mark.is_platform for mark in marks) and (last := _mark(parts[-1], roster)):
        marks.append(last)  # in a platform's folder, the student chose the name of the file
    named = [mark for mark in marks if mark.ids and mark.is_exact] or [mark for mark in marks if mark.ids]
    strange = next((mark.text for mark in marks if not mark.ids), "")
    if named:
        student, text = _agreed(named), named[-1].text
        flags = [Flag("owner", f"{text!a} names {student}, but {strange!a} names nobody.")] if strange else []
        if claimed and claim != student:
            flags.append(Flag("owner", f"{text!a} names {student}, but {claim} packed it."))
        remarks = [f"{mark.text!a} names {_listed(mark.ids)}" for mark in marks if mark.ids and student not in mark.ids]
        remarks += [f"it was packed by {claim}"] if claim and not claimed else []
        remark = f"taken for {student}, as {text!a} says; {'; '.join(remarks)}" if remarks else ""
        return Owner(student, tuple(flags), remark)
    if strange:
        if not claimed or claimed.first_name or claimed.last_name:
            raise NotImportedError(
                f"{strange!a} fits nobody on the roster: {PUT}; "
                "if marking is anonymous, let the platform show names, and download again",
                "owner.unknown",
            )
        return Owner(claim, (Flag("owner", f"It came as {strange!a}, but names {claim}."),))
    if not claim:
        raise NotImportedError(f"nothing says whose it is: {PUT}", "owner.unnamed")
    if not claimed:
        raise NotImportedError(
            f"{claim} is not on the roster: add them with `coursekit course init --roster`, or, if that is "
            f"another account of a listed student, {PUT}",
            "owner.not-on-roster",
        )
    return Owner(claim, remark=f"taken for {claim}, because the file itself says so; nothing else names an owner")


def _agreed(marks: Sequence[_Mark]) -> str:
    """Return the one student whom all these marks name; raise an error if they do not agree on one student."""
    common = frozenset.intersection(*(mark.ids for mark in marks))
    if len(common) == 1:
        return next(iter(common))
    if common:
        raise NotImportedError(f"{marks[0].text!a} fits several students, {_listed(common)}: {PUT}", "owner.ambiguous")
    texts = " and ".join(f"{mark.text!a} ({_listed(mark.ids)})" for mark in marks)
    raise NotImportedError(
        f"{texts} name different students: {PUT}, with no other name in its path", "owner.contradictory"
    )


def _listed(ids: Iterable[str]) -> str:
    return ", ".join(sorted(ids))


def _mark(part: str, roster: Sequence[Student]) -> _Mark | None:
    """Return the students named by one part of a path; None if it names nobody and no platform wrote it."""
    bare, canonical = ENDING.sub("", part), canonical_usernames(one.id for one in roster)
    if exact := frozenset(one.id for one in roster if one.id in {canonical(part), canonical(bare)}):
        return _Mark(part, exact)
    if found := next(filter(None, (platform.fullmatch(bare) for platform in PLATFORMS)), None):
        return _Mark(part, frozenset(_named_by_platform(found.groupdict(), roster)), is_platform=True)
    if exact := frozenset(one.id for one in roster if one.email and username_key(one.email) == username_key(bare)):
        return _Mark(part, exact)
    letters = _letters(bare)
    names = frozenset(one.id for one in roster if letters in _full_names(one))
    return _Mark(part, names, is_exact=False) if names else None


def _named_by_platform(found: Mapping[str, str | None], roster: Sequence[Student]) -> set[str]:
    if account := found.get("account"):
        ids = [one.id for one in roster if f"_{username_key(account)}".endswith(f"_{username_key(one.id)}")]
        return {max(ids, key=len)} if ids else set()  # the longest: li_wang, not wang
    name, number = found["name"] or "", found.get("id")
    words = name.split("-")
    names = [_letters("".join(words[i:])) for i in range(len(words))]  # the first is the whole name
    calling = ({one.id for one in roster if each in (_full_names(one) or {_letters(one.id)})} for each in names)
    called = next(filter(None, calling), set())
    numbered = {one.id for one in roster if number and one.lms_user_id == number}
    return called & numbered or called | numbered


@cache
def _full_names(student: Student) -> set[str]:
    first, last = _letters(student.first_name), _letters(student.last_name)
    return {first + last, last + first} - {""}


def _letters(text: str) -> str:
    """Return the part of a name that every platform keeps: its letters and digits, composed and in one case."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()))
