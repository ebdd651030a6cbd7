"""One call of `coursekit grade`: what to grade and how to report it, and a loop that watches for new hand-ins."""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.progress import TimeElapsedColumn

from coursekit import __version__
from coursekit.cli.shared import counting_bar
from coursekit.course.folder import Course
from coursekit.course.grade import EMPTY, Graded, Recorder, grade_all, load_submissions, load_verdicts
from coursekit.course.record import record
from coursekit.course.settings import SETTINGS
from coursekit.errors import CourseKitError
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.pool import PoolSettings, judge_all, lack_of_memory
from coursekit.grading.submission.student_folder import Submission
from coursekit.grading.verdict import Verdict
from coursekit.labs.lab import Lab
from coursekit.log import machine
from coursekit.text import printable
from coursekit.waiting import Attempts, AwayError

LOGGER = logging.getLogger(__name__)
WATCH_S = 20.0  # the time between two checks of the exchange


@dataclass(frozen=True)
class Call:
    """One call of the command: the labs and students to grade, the limits, and the page and console for the results."""

    course: Course
    labs: Sequence[Lab]
    sources: Mapping[str, Path]
    students: Sequence[str]
    settings: PoolSettings
    page: Path
    console: Console = field(default_factory=Console)

    def say(self, text: str) -> None:
        """Print a text on one line, without interpreting anything in it as markup."""
        self.console.print(printable(text).replace("\n", " "), markup=False, highlight=False, soft_wrap=True)

    def load_submissions(self) -> list[Submission]:
        """Return the collected hand-ins for these labs and students.

        Raises:
            CourseKitError: nothing was collected.
        """
        if submissions := load_submissions(self.course, self.sources, self.students, self.settings):
            return submissions
        whose = f" from {', '.join(self.students)}" if self.students else ""
        raise CourseKitError(
            f"there is nothing{whose} to grade: run `coursekit course collect` first.", "grading.nothing"
        )

    def grade(self, submissions: Sequence[Submission], recorder: Recorder, *, again: bool) -> list[Graded]:
        """Grade submissions; return the results, sorted by student and lab.

        If `again` is true, earlier verdicts are ignored.
        """
        known = {} if again else load_verdicts(self.course, submissions)
        if any(one.cells.answers and one.key not in known for one in submissions):
            self.require_machine()
        LOGGER.info("coursekit %s, %d hand-ins: %s (%s)", __version__, len(submissions), self.settings, machine())
        graded = self.each(submissions, known, recorder)
        return sorted(graded, key=lambda one: (one.submission.student, one.submission.lab))

    def require_machine(self) -> None:
        """Raise an error if hand-ins cannot be graded on this machine, and warn if some may run out of memory."""
        require_sandbox()
        if lack := lack_of_memory(self.settings):
            LOGGER.warning(lack)
            click.echo(f"coursekit: {lack}", err=True)

    def each(
        self, submissions: Sequence[Submission], known: Mapping[str, Verdict], recorder: Recorder
    ) -> Iterator[Graded]:
        """Grade submissions, print a line for each, and yield the results as they come.

        If there are many submissions, only the lines that need attention are printed.
        """
        from coursekit.course.status.report import NUM_ALL

        stream = grade_all(
            self.course, submissions, known, lambda new: judge_all(new, self.sources, self.settings), recorder
        )
        with counting_bar(self.console, TimeElapsedColumn()) as progress, closing(stream):
            task = progress.add_task("hand-ins", total=len(submissions))
            for one in stream:
                fault = one.verdict.fault and f"{one.verdict.fault} (log: {self.page.with_suffix('.log')})"
                graded = replace(one, verdict=replace(one.verdict, fault=fault))
                progress.update(task, advance=1)
                if len(submissions) <= NUM_ALL or fault or graded.verdict.flags or not graded.verdict.scores:
                    self.say(_line(graded))
                LOGGER.info(_line(graded))
                yield graded


def _line(graded: Graded) -> str:
    """Return the result for one submission as one line of text."""
    from coursekit.course.status.report import flag_words

    verdict = graded.verdict
    if verdict.fault:
        what = f"needs another run: {verdict.fault}"
    elif graded.outcome == EMPTY:
        what = "; ".join(graded.notes) or EMPTY
    else:
        what = f"{verdict.points:g} of {verdict.max_points:g} ({graded.how})"
    flags = f", {flag_words(verdict.flags)}" if verdict.flags else ""
    return printable(f"{verdict.student} {verdict.lab}: {what}{flags}").replace("\n", " ")


class Watch:
    """Grades new hand-ins and releases their feedback, again and again.

    A hand-in that needs another run waits for the next call of the command.
    """

    def __init__(self, call: Call, *, feedback: bool) -> None:
        self._call, self._gives_feedback = call, feedback
        # The key of the hand-in graded last, by student and lab: if an earlier version is handed in again, its points
        # count again.
        self._last: dict[tuple[str, str], str] = {}
        self._changed: set[tuple[str, str]] = set()  # collected, but not yet graded
        self._to_give: set[tuple[str, str]] = set()
        self._failed: set[tuple[str, str]] = set()  # the last attempt to release their feedback failed
        self._said: set[str] = set()

    def go_on(self) -> NoReturn:
        """Check the exchange at regular intervals; if it or the gradebook is unavailable, try again later."""
        self._call.require_machine()
        self._call.console.print("watching the exchange; press Ctrl-C to stop")

        def say(sentence: str) -> None:
            self._call.say(sentence)
            LOGGER.warning(sentence)

        attempts = Attempts(say)
        while True:
            attempts.attempt(self._look)
            time.sleep(WATCH_S)

    def _collect(self) -> None:
        from coursekit.course.collect import collect

        course = self._call.course
        (course.folder / SETTINGS).stat()  # raises an error if the whole course is unavailable
        for lab in self._call.sources:
            if (course.folder / "release" / lab).is_dir():
                collected, strays = collect(course, lab)
                self._changed |= {(one.student, one.lab) for one in collected if one.changed}
                for stray in strays:
                    if stray not in self._said:
                        self._call.say(stray)
                        LOGGER.info(stray)
                self._said |= {*strays}

    def _look(self) -> None:
        from coursekit.course.status.lost_points import lost_points
        from coursekit.course.status.points import read_points

        self._collect()
        call = self._call
        found = {
            (one.student, one.lab): one
            for one in load_submissions(call.course, call.sources, call.students, call.settings)
        }
        changed = {place for place, one in found.items() if self._last.get(place) != one.key}
        new = {place: one for place, one in found.items() if place in self._changed | changed}
        self._changed &= {*new}
        before = read_points(call.course)
        known = load_verdicts(call.course, new.values())
        for one in call.each([*new.values()], known, record) if new else ():
            place = (one.submission.student, one.submission.lab)
            self._last[place] = one.submission.key
            self._changed.discard(place)
            self._to_give |= {place} if self._gives_feedback and one.verdict.scores else set()
        for line in lost_points(before, read_points(call.course)) if new else ():
            call.say(line)
        faults = [fault for lab in {lab for _, lab in self._to_give} if (fault := self._give(lab))]
        if faults:
            raise faults[0]

    def _give(self, lab: str) -> AwayError | None:
        """Release all pending feedback for a lab; if that fails, return the error.

        In that case, the student whose feedback could not be released comes last the next time.
        """
        from coursekit.course.release import give_all

        waiting = sorted((place in self._failed, place) for place in self._to_give if place[1] == lab)
        names = [student for _, (student, _) in waiting]
        try:
            for given in give_all(self._call.course, lab, names):
                self._to_give.discard((given.student, lab))
                LOGGER.info("feedback: %s %s", given.student, lab)
        except AwayError as error:
            self._failed.add(next((name, lab) for name in names if (name, lab) in self._to_give))
            return error
        return None
