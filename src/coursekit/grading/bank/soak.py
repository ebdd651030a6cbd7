"""Judge the same answers again and again: a verdict that is not always the same is a defect of a test."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coursekit.grading.bank.answer_bank import Answer
from coursekit.grading.bank.busy import busy
from coursekit.grading.bank.run_answers import job_of, lab_of
from coursekit.grading.judge.pool import judge_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from coursekit.grading.judge.pool import Job, PoolSettings
    from coursekit.grading.verdict import Verdict

REFERENCE = "reference"
# "CheckError: shards: …": the kind of failure and the property; the rest may hold numbers drawn for this run.
PROPERTY = re.compile(r"\w+: [^:]*(?=:|$)")

Outcome = tuple[tuple[str, float, str], ...]  # of each test: its id, its points, the property that is missing


@dataclass
class Soaked:
    """What judging made of one answer, again and again.

    Attributes:
        name: its name in the bank, or `REFERENCE`.
        outcomes: each outcome, with how often it was reached.
        faults: why it needs another run, one sentence for each time: the machine's doing, and no verdict.
    """

    name: str
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def differences(self) -> tuple[str, ...]:
        """One sentence for each test that did not always end in the same way."""
        by_test: dict[str, Counter[tuple[float, str]]] = {}
        for outcome, num_times in self.outcomes.items():
            for name, points, what in outcome:
                by_test.setdefault(name, Counter())[points, what] += num_times
        return tuple(f"{name}: {_told(ends)}" for name, ends in by_test.items() if len(ends) > 1)


def _told(ends: Counter[tuple[float, str]]) -> str:
    return ", ".join(f"{num} times {points:g} points ({what or 'passed'})" for (points, what), num in ends.items())


def choose(bank: Sequence[Answer], num_mutants: int, seed: int) -> list[Answer]:
    """Return the reference and some wrong answers, drawn."""
    wrong = [answer for answer in bank if answer.fails]
    rng = random.Random(seed)  # noqa: S311  # no secret
    mutants = rng.sample(wrong, min(num_mutants, len(wrong)))
    return [Answer(REFERENCE, "the solution", {}, {}), *sorted(mutants, key=lambda answer: answer.name)]


def soak(  # noqa: PLR0913, PLR0917  # one for each option of the command
    answers: Sequence[Answer],
    source_notebook: Path,
    num_times: int,
    settings: PoolSettings,
    report: Callable[[Verdict], None] = lambda _: None,
    num_loops: int = 0,
) -> tuple[Soaked, ...]:
    """Judge each answer so many times, in turns, each time with fresh inputs.

    Args:
        answers: what to judge; each runs alone, with all tests that it can reach.
        source_notebook: the lab's source, `build/source/<lab>/<lab>.ipynb`.
        num_times: how often.
        settings: how to judge.
        report: called with each verdict when it is there.
        num_loops: how many busy loops run beside all turns but the first.
    """
    lab = lab_of(source_notebook)
    soaked = {answer.name: Soaked(answer.name) for answer in answers}
    jobs = [job_of(answer.name, [answer], source_notebook, lab) for answer in answers]
    for verdict in _verdicts(jobs, num_times, settings, num_loops):
        report(verdict)
        if verdict.fault:
            soaked[verdict.student].faults.append(verdict.fault)
        else:
            soaked[verdict.student].outcomes[_outcome(verdict)] += 1
    return tuple(soaked.values())


def _verdicts(jobs: list[Job], num_times: int, settings: PoolSettings, num_loops: int) -> Iterator[Verdict]:
    if not num_loops:
        yield from judge_all(jobs * num_times, settings)
        return
    yield from judge_all(jobs, settings)
    with busy(num_loops):
        yield from judge_all(jobs * (num_times - 1), settings)


def _outcome(verdict: Verdict) -> Outcome:
    return tuple((score.grade_id, score.points, property_of(score.message)) for score in verdict.scores)


def property_of(message: str) -> str:
    """Return which property a message is about, without what may differ from run to run; '' for no message."""
    found = PROPERTY.match(message)
    return found.group() if found else message[:40]
