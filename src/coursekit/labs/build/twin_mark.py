"""The mark at the end of a script twin, by which later builds know their own work from somebody's edits."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError

if TYPE_CHECKING:
    from pathlib import Path

# What a twin holds: stubs, the solution, or a student's answers.
KINDS = ("release", "solution", "answers")
_MARK = re.compile(rf"\n\n# Made, not edited: ({'|'.join(KINDS)}) ([0-9a-f]{{64}})\n\Z")


def marked(text: str, kind: str) -> str:
    """Return the text of a twin with its mark."""
    return f"{text}\n\n# Made, not edited: {kind} {_checksum(kind, text)}\n"


def kind_of(path: Path) -> str:
    """Return what the twin in a file holds, or '' when the file is no twin or was edited."""
    text = path.read_text(encoding="utf-8", errors="replace")
    found = _MARK.search(text)
    return found[1] if found and _checksum(found[1], text[: found.start()]) == found[2] else ""


def refuse_edited_twin(path: Path) -> None:
    """Refuse to go on when a file is not the builder's own twin.

    Raises:
        CourseKitError: somebody wrote or edited it, or made it from a student's answers.
    """
    if path.exists() and kind_of(path) not in {"release", "solution"}:
        raise CourseKitError(
            f"{path} is not as the builder made it and may hold a student's answers: "
            "move it out of the way and build again."
        )


def _checksum(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()
