"""The owner of a downloaded file: whom the platform names, else whom the file itself names, else nobody."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from coursekit.course.hand_in.packed import NotTakenError
from coursekit.course.roster import Student, speller
from coursekit.grading.verdict import Flag

# How platforms name the files of a download, as their sources say it
# (Moodle: download_submissions of mod/assign; Canvas: lib/content_zipper.rb).
PLATFORMS = (
    # Ada Lovelace_1234_assignsubmission_file_(the student's own name): the number is no id of the student.
    re.compile(r"(?P<name>[^_]+)(_\d+)?_assignsubmission_(file|onlinetext)(_.*)?"),
    # lovelaceada_LATE_(id of the user)_(id of the file)_(the student's own name); anonymous ones name nobody.
    re.compile(r"(?!(LATE_)?anon_)(?P<name>[^ .,'-]+?)_(LATE_)?(?P<id>\d+)_\d+_.+"),
)
COPY = re.compile(r" ?\(\d+\)$")  # what a browser adds to a second file of the same name
PUT = "put the file into a folder that is named by the student's id in the roster"


@dataclass(frozen=True)
class Owner:
    """Whose a file is.

    Attributes:
        student: Id of the student.
        flags: What an instructor should look at when grading.
        remark: What to say when collecting; '' for nothing.
    """

    student: str
    flags: tuple[Flag, ...] = ()
    remark: str = ""


def find_owner(parts: Sequence[str], claim: str, roster: Sequence[Student]) -> Owner:
    """Find the owner of a file.

    `parts` are the folders that it lies in, the outermost first, and its name without the suffix; `claim` is the
    account that its manifest names, '' if it names nobody.

    Raises:
        NotTakenError: the owner is not clear.
    """
    claim = speller(student.id for student in roster)(claim)
    claimed = next((student for student in roster if student.id == claim), None)
    marks = ((part, _named_by(part, roster)) for part in parts)
    text, named = next(((part, ids) for part, ids in marks if ids is not None), ("", None))
    if named and len(named) > 1:
        raise NotTakenError(f"{text!a} fits {', '.join(sorted(named))}: {PUT}")
    if named:
        (student,) = named
        if claimed and claim != student:
            return Owner(student, (Flag("owner", f"{text!a} names {student}, but {claim} packed it."),))
        packed = f"taken for {student}, as {text!a} says; it was packed by {claim}"
        return Owner(student, remark=packed if claim and not claimed else "")
    if named is not None:  # a platform names somebody whom the roster does not know by that name
        if not claimed or claimed.first_name or claimed.last_name:
            raise NotTakenError(
                f"{text!a} is of nobody on the roster: {PUT}; "
                "where marking is blind, let the platform show names, and download again"
            )
        return Owner(claim, (Flag("owner", f"It came as {text!a} and names {claim}."),))
    if not claim:
        raise NotTakenError(f"nothing says whose it is: {PUT}")
    if not claimed:
        raise NotTakenError(
            f"{claim} is not on the roster: add them with `coursekit course init --roster`, or, if that is "
            f"another account of a student, {PUT}"
        )
    return Owner(claim, remark=f"taken for {claim}, as the file itself says, and nothing else does")


def _named_by(part: str, roster: Sequence[Student]) -> set[str] | None:
    """Return the ids whom one part of a path names; none if it is a platform's and names a stranger, else None."""
    part = COPY.sub("", part)
    found = next(filter(None, (platform.fullmatch(part) for platform in PLATFORMS)), None)
    if found:
        called = {one.id for one in roster if _letters(found["name"]) in (_full_names(one) or {_letters(one.id)})}
        number = found.groupdict().get("id")
        numbered = {one.id for one in roster if number and one.lms_user_id == number}
        return called & numbered or called | numbered
    spelled = speller(one.id for one in roster)(part)
    by_id = {one.id for one in roster if one.id == spelled}
    names = {one.id for one in roster if _letters(part) in {_letters(one.email), *_full_names(one)} - {""}}
    return by_id or names or None


def _full_names(student: Student) -> set[str]:
    first, last = _letters(student.first_name), _letters(student.last_name)
    return {first + last, last + first} - {""}


def _letters(text: str) -> str:
    """Return what is left of a name on every platform: its letters and digits, composed and in one case."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()))
