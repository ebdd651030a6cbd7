"""A call of `coursekit grade`: what it grades, how it says so, and watching, which grades what comes in."""

import logging
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.progress import TimeElapsedColumn

from coursekit.cli.shared import counting_bar
from coursekit.course.folder import Course
from coursekit.course.grade import GradedHandIn
from coursekit.course.settings import SETTINGS
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.pool import PoolSettings, lack_of_memory
from coursekit.labs.lab import Lab
from coursekit.text import printable
from coursekit.waiting import Attempts, AwayError

LOGGER = logging.getLogger(__name__)
WATCH_S = 20.0  # between two looks at the exchange


@dataclass(frozen=True)
class Call:
    """What one call grades, and where it reports the results."""

    course: Course
    labs: Sequence[Lab]
    sources: Mapping[str, Path]
    students: Sequence[str]
    settings: PoolSettings
    page: Path
    console: Console = field(default_factory=Console)

    def say(self, text: str) -> None:
        """Print a line unchanged, whatever it contains."""
        self.console.print(printable(text).replace("\n", " "), markup=False, highlight=False, soft_wrap=True)


def require_machine(settings: PoolSettings) -> None:
    """Return when hand-ins can be graded here, and say so where some may not get the memory that they may use."""
    require_sandbox()
    if lack := lack_of_memory(settings):
        LOGGER.warning(lack)
        click.echo(f"coursekit: {lack}", err=True)


def told(stream: Generator[GradedHandIn, None, None], num_hand_ins: int, call: Call) -> Iterator[GradedHandIn]:
    """Tell each hand-in in a line, of many those with flags or without points; faults name the log."""
    from coursekit.course.status.report import NUM_ALL

    with counting_bar(call.console, TimeElapsedColumn()) as progress, closing(stream):
        task = progress.add_task("hand-ins", total=num_hand_ins)
        for one in stream:
            fault = one.verdict.fault and f"{one.verdict.fault} (log: {call.page.with_suffix('.log')})"
            graded = replace(one, verdict=replace(one.verdict, fault=fault))
            progress.update(task, advance=1)
            if num_hand_ins <= NUM_ALL or fault or graded.verdict.flags or not graded.verdict.scores:
                call.say(_line(graded))
            LOGGER.info(_line(graded))
            yield graded


def _line(graded: GradedHandIn) -> str:
    """Return what became of one hand-in, as one line."""
    from coursekit.course.grade import EMPTY
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
    """Collects, grades, and releases feedback of, what is new; what needs another run waits for the next call."""

    def __init__(self, call: Call, *, feedback: bool) -> None:
        self._call, self._gives_feedback = call, feedback
        # What was graded last, by student and lab: a student who hands in an earlier version again gets its points.
        self._last: dict[tuple[str, str], str] = {}
        self._changed: set[tuple[str, str]] = set()  # collected since, perhaps with equal answers
        self._to_give: set[tuple[str, str]] = set()
        self._failed: set[tuple[str, str]] = set()  # whose page could not be made or released at the last try
        self._said: set[str] = set()

    def go_on(self) -> NoReturn:
        """Look again and again, even after the exchange or the gradebook was unavailable."""
        require_machine(self._call.settings)
        self._call.console.print("watching the exchange; Ctrl-C ends it")

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
        (course.folder / SETTINGS).stat()  # raises if the whole course is unavailable
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
        from coursekit.course.grade import grade_all, stage
        from coursekit.course.status.points import lost_points, read_points

        self._collect()
        call = self._call
        staged = stage(call.course, call.sources, call.students, call.settings)
        found = {(one.hand_in.student, one.hand_in.lab): one for one in staged}
        new = {
            place: one
            for place, one in found.items()
            if place in self._changed or self._last.get(place) != one.submission.key
        }
        self._changed &= {*new}
        before = read_points(call.course)
        for one in told(grade_all(call.course, [*new.values()], call.settings), len(new), call) if new else ():
            place = (one.hand_in.student, one.hand_in.lab)
            self._last[place] = new[place].submission.key
            self._changed.discard(place)
            self._to_give |= {place} if self._gives_feedback and one.verdict.scores else set()
        for line in lost_points(before, read_points(call.course)) if new else ():
            call.say(line)
        faults = [fault for lab in {lab for _, lab in self._to_give} if (fault := self._give(lab))]
        if faults:
            raise faults[0]

    def _give(self, lab: str) -> AwayError | None:
        """Give feedback; return what kept it from a student, who comes last at the next try."""
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
