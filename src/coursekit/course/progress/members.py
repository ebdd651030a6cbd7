"""The members of a class, by name or, for the projector, by numbers that reveal no name."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.course.roster import ROSTER, read_roster
from coursekit.files import write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from coursekit.course.folder import Course

KEY = ".anonymous-order"
NUM_KEY_BYTES = 32


@dataclass(frozen=True)
class Member:
    """One student.

    Attributes:
        label: What is shown.
        is_counted: Whether numbers over the class count them: not who left the roster, or was never on it.
    """

    id: str
    label: str
    is_counted: bool = True


def find_members(course: Course, known: Collection[str], *, anonymous: bool = False) -> tuple[tuple[Member, ...], bool]:
    """Return all members, those on the roster first, and whether there is a roster; without one, all count.

    `known` are the ids that the gradebook or hand-ins name. With `anonymous` numbers stand for names; who has which
    differs from course to course.

    Raises:
        CourseKitError: the roster is wrong.
    """
    path = course.folder / ROSTER
    roster = {student.id for student in read_roster(path)} if path.is_file() else set(known)
    order = _secret_order(course) if anonymous else str.casefold
    ids = [*sorted(roster, key=order), *sorted(set(known) - roster, key=order)]
    num_digits = len(str(len(ids)))
    labels = [f"student {i:0{num_digits}}" if anonymous else student for i, student in enumerate(ids, 1)]
    return tuple(Member(*pair, pair[0] in roster) for pair in zip(ids, labels)), path.is_file()


def find_strangers(course: Course) -> list[str]:
    """Return the ids in the gradebook that are not on the roster.

    Raises:
        CourseKitError: the roster is wrong.
    """
    with course.gradebook() as gradebook:
        members, _ = find_members(course, {student.id for student in gradebook.students})
    return [member.id for member in members if not member.is_counted]


def _secret_order(course: Course) -> Callable[[str], str]:
    """Return a sort key that only this course's owner can compute; a plain digest of a name could be guessed."""
    path = course.folder / KEY
    if not path.is_file():
        write_file(path, secrets.token_bytes(NUM_KEY_BYTES))
    key = path.read_bytes()
    return lambda student: hmac.new(key, student.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
