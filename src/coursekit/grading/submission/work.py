"""What of a hand-in is judged: the source text of its cells, and nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coursekit.grading.submission.program import Program
    from coursekit.grading.verdict import Flag


@dataclass(frozen=True)
class Work:
    """A student's own cells.

    Attributes:
        lab: name of the lab.
        student: their id.
        answers: by `grade_id`, the source of each answer cell; one that was deleted is missing.
        extra: code cells that the student added: the name of the known cell before ('' at the top), and the source.
        flags: what the instructor should know of the hand-in.
    """

    lab: str
    student: str
    answers: Mapping[str, str]
    extra: tuple[tuple[str, str], ...] = ()
    flags: tuple[Flag, ...] = field(default=())

    def digest(self) -> str:
        """Return a digest of the sources."""
        text = json.dumps([self.lab, sorted(self.answers.items()), self.extra])
        return hashlib.sha256(text.encode()).hexdigest()


def cells_to_run(program: Program, work: Work) -> list[tuple[str, str]]:
    """Return name and source of the cells for the sandbox, in their order: the instructor's, with the student's."""
    return list(_cells(program, work))


def _cells(program: Program, work: Work) -> Iterator[tuple[str, str]]:
    parts = {part.name: part for part in program.run}
    for name in ("", *program.order):
        part = parts.get(name)
        if part:
            source = work.answers.get(name, "") if part.is_answer else part.source
            if source.strip():
                yield name, source
        for number, (_, source) in enumerate((one for one in work.extra if one[0] == name), 1):
            yield f"{name or 'top'} + {number}", source
