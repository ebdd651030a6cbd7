"""What of a hand-in is judged: the source text of its cells, with what the judge has to know beside it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.grading.verdict import Flag, Verdict
from coursekit.way_out import checks_of_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coursekit.grading.submission.program import Program


@dataclass(frozen=True)
class Work:
    """A student's own cells.

    Attributes:
        answers: by `grade_id`, the source of each answer cell; one that was deleted is missing.
        extra: code cells that the student added: the name of the known cell before ('' at the top), and the source.
        flags: what the instructor should know of the hand-in.
    """

    lab: str
    student: str
    answers: Mapping[str, str]
    extra: tuple[tuple[str, str], ...] = ()
    flags: tuple[Flag, ...] = field(default=())

    @property
    def taken(self) -> set[str]:
        """The checks that give no points, since the student took what they look at from the solution."""
        sources = [*self.answers.values(), *(source for _, source in self.extra)]
        return {check for source in sources for check in checks_of_pieces(source)}

    def digest(self) -> str:
        """Return a digest of the sources."""
        text = json.dumps([self.lab, sorted(self.answers.items()), self.extra])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Submission:
    """One submission to judge.

    Attributes:
        source: the lab's notebook with hidden tests.
        work: the student's cells.
        key: digest of all that the verdict depends on.
        left_out: names of the judge's cells that are not run.
    """

    source: Path
    work: Work
    key: str = ""
    left_out: tuple[str, ...] = ()

    def not_judged(self, fault: str) -> Verdict:
        """Return a verdict without a score that says why it was not graded."""
        return Verdict(self.work.lab, self.work.student, (), self.work.flags, fault=fault, key=self.key)

    def dumps(self) -> str:
        """Return the submission as one line of JSON."""
        return json.dumps(asdict(self), default=str) + "\n"

    @classmethod
    def loads(cls, line: str) -> Submission:
        """Read what `dumps` wrote."""
        data = json.loads(line)
        work = data["work"]
        extra = tuple((after, text) for after, text in work["extra"])
        flags = tuple(Flag(**flag) for flag in work["flags"])
        given = Work(**{**work, "extra": extra, "flags": flags})
        return cls(Path(data["source"]), given, data["key"], tuple(data["left_out"]))


def cells_to_run(program: Program, work: Work) -> list[tuple[str, str]]:
    """Return name and source of each cell for the sandbox in order: the instructor's, with the student's among them."""
    parts = {part.name: part for part in program.run}
    cells = []
    for name in ("", *program.order):
        if name in parts:
            source = work.answers.get(name, "") if parts[name].is_answer else parts[name].source
            cells += [(name, source)] if source.strip() else []
        added = [source for after, source in work.extra if after == name]
        cells += [(f"{name or 'top'} + {number}", source) for number, source in enumerate(added, 1)]
    return cells
