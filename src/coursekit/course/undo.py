"""Take back the last collecting: what it brought is set aside, and what was graded before is graded again."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coursekit.course.collect import settle
from coursekit.course.due import due_of
from coursekit.course.versions import GRADED, read_versions
from coursekit.errors import CourseKitError
from coursekit.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coursekit.course.folder import Course

LAST, UNDONE = ".last.json", ".undone"


@contextmanager
def one_call(course: Course) -> Iterator[None]:
    """Remember which versions come in meanwhile, from the exchange or as files: `undo` sets these aside."""
    hand_ins = course.folder / "hand-ins"
    before = _records(hand_ins)
    try:
        yield
    finally:
        new = sorted(_records(hand_ins) - before)
        if new:
            write_file(hand_ins / LAST, json.dumps(new).encode())


def undo(course: Course) -> list[tuple[str, str]]:
    """Set aside what the last call brought; return the labs and students that it was of.

    Points that were recorded stay until the next grading. What lies in the exchange, the next call collects again.

    Raises:
        CourseKitError: no call is left to be taken back.
    """
    hand_ins = course.folder / "hand-ins"
    if not (hand_ins / LAST).is_file():
        raise CourseKitError("there is nothing to take back: only the last collecting can be, and once.")
    names = json.loads((hand_ins / LAST).read_bytes())
    for name in names:
        for path in (hand_ins / name, (hand_ins / name).with_suffix("")):
            aside = hand_ins / UNDONE / path.relative_to(hand_ins)
            aside.parent.mkdir(parents=True, exist_ok=True)
            if aside.is_dir():
                shutil.rmtree(aside)
            if path.exists():
                path.replace(aside)
    pairs = sorted({(lab, student) for lab, student, _ in (name.split("/") for name in names)})
    with course.gradebook() as gradebook:
        due = {(lab, student): due_of(course, gradebook, lab, student) for lab, student in pairs}
    for lab, student in pairs:
        shutil.rmtree(course.submitted(lab, student), ignore_errors=True)
        if read_versions(course.hand_ins(lab, student)):
            settle(course, lab, student, due[lab, student], late=False)
        else:  # a folder without a version would stand for a hand-in
            shutil.rmtree(course.hand_ins(lab, student))
    (hand_ins / LAST).unlink()
    return pairs


def _records(hand_ins: Path) -> set[str]:
    found = (path for path in hand_ins.glob("[!.]*/*/*.json") if path.name != GRADED)
    return {path.relative_to(hand_ins).as_posix() for path in found}
