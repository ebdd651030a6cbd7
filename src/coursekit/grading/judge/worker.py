"""A worker: one slot in a process of its own, which judges one submission after the other.

It reads a JSON line for each job from standard input and writes the verdict as a JSON line on the pipe whose number is
its second argument.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import nbformat

from coursekit.errors import CourseKitError
from coursekit.grading.judge.slot import Limits, Slot
from coursekit.grading.judge.submission import grade
from coursekit.grading.submission.program import Program, read_program
from coursekit.grading.submission.work import Work
from coursekit.grading.verdict import Flag, Verdict
from coursekit.ranks.lifetime import end_with_parent


def main() -> None:
    """Judge until standard input ends; the first argument holds the slot's settings as JSON."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started us ends us
    settings = json.loads(sys.argv[1])
    image = settings.pop("image")
    programs: dict[str, Program] = {}
    slot = Slot(limits=Limits(**settings.pop("limits")), image=Path(image) if image else None, **settings)
    with slot, os.fdopen(int(sys.argv[2]), "w") as verdicts:
        for line in sys.stdin:
            job = json.loads(line)
            verdict = _judge(job, programs, slot)
            verdicts.write(json.dumps(json.loads(verdict.dumps())) + "\n")
            verdicts.flush()


def _judge(job: dict[str, Any], programs: dict[str, Program], slot: Slot) -> Verdict:
    work = Work(**{**job["work"], "flags": tuple(Flag(**flag) for flag in job["work"]["flags"])})
    if job["source"] not in programs:
        programs[job["source"]] = read_program(work.lab, nbformat.read(job["source"], as_version=4))
    try:
        return grade(programs[job["source"]], work, slot, left_out=job["left_out"], key=job["key"])
    except CourseKitError as error:
        return Verdict(work.lab, work.student, (), work.flags, fault=str(error), sandbox=slot.sandbox, key=job["key"])


if __name__ == "__main__":
    main()
