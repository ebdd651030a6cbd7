"""A worker: one slot in a process of its own, which judges one submission after the other.

It reads a JSON line for each submission from standard input and writes the verdict as a JSON line on the pipe whose
number is its second argument.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

from coursekit.errors import CourseKitError
from coursekit.grading.judge.grade_one import grade
from coursekit.grading.judge.slot import Slot, SubmissionLimits
from coursekit.grading.submission.program import Program, read_program
from coursekit.grading.submission.work import Submission
from coursekit.ranks.lifetime import end_with_parent

if TYPE_CHECKING:
    from coursekit.grading.verdict import Verdict


def main() -> None:
    """Judge until standard input ends; the first argument holds the slot's settings as JSON."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started us ends us
    settings = json.loads(sys.argv[1])
    image = settings.pop("image")
    programs: dict[Path, Program] = {}
    slot = Slot(limits=SubmissionLimits(**settings.pop("limits")), image=Path(image) if image else None, **settings)
    with slot, os.fdopen(int(sys.argv[2]), "w") as verdicts:
        for line in sys.stdin:
            verdict = _judge(Submission.loads(line), programs, slot)
            verdicts.write(verdict.dumps(indent=None) + "\n")
            verdicts.flush()


def _judge(submission: Submission, programs: dict[Path, Program], slot: Slot) -> Verdict:
    source, work = submission.source, submission.work
    if source not in programs:
        programs[source] = read_program(work.lab, nbformat.read(source, as_version=4))
    try:
        return grade(programs[source], work, slot, left_out=submission.left_out, key=submission.key)
    except CourseKitError as error:
        return replace(submission.not_judged(str(error)), sandbox=slot.sandbox)


if __name__ == "__main__":
    main()
