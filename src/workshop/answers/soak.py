"""Judge the same answers again and again: a verdict that is not always the same is a defect of a test."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from coursekit.grading.judge.pool import PoolSettings, judge_all
from coursekit.grading.submission.work import Submission
from coursekit.grading.verdict import Verdict
from workshop.answers.answer_bank import BankAnswer
from workshop.answers.run_answers import asked_tests, job_of, lab_of

REFERENCE = "reference"
# "CheckError: shards: …": the kind of failure and the property; the rest may hold numbers drawn for this run.
PROPERTY = re.compile(r"\w+: [^:]*(?=:|$)")

# Each loop looks now and then whether the one who started it is still there, so that none is left when that is killed.
LOOP = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(1_000_000):
        pass
"""

SoakOutcome = tuple[tuple[str, float, str], ...]  # of each test: its id, its points, the property that is missing


@dataclass
class Soaked:
    """What judging made of one answer, again and again.

    Attributes:
        name: its name in the bank, or `REFERENCE`.
        outcomes: each outcome, with how often it was reached.
        faults: why it needs another run, one sentence for each time: the machine's doing, and no verdict.
    """

    name: str
    outcomes: Counter[SoakOutcome] = field(default_factory=Counter)
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


def choose(bank: Sequence[BankAnswer], num_mutants: int, seed: int) -> list[BankAnswer]:
    """Return the reference and some wrong answers, drawn."""
    wrong = [answer for answer in bank if answer.fails]
    rng = random.Random(seed)  # noqa: S311  # no secret
    mutants = rng.sample(wrong, min(num_mutants, len(wrong)))
    return [BankAnswer(REFERENCE, "the solution", {}, {}), *sorted(mutants, key=lambda answer: answer.name)]


def soak(  # noqa: PLR0913, PLR0917  # one for each option of the command
    answers: Sequence[BankAnswer],
    source_notebook: Path,
    num_times: int,
    settings: PoolSettings,
    report: Callable[[Verdict], None] = lambda _: None,
    num_loops: int = 0,
) -> tuple[Soaked, ...]:
    """Judge each answer to `build/source/<lab>/<lab>.ipynb` so many times, in turns, each time with fresh inputs.

    Each answer runs alone, with all tests that it can reach; `report` is called with each verdict when it is there.
    `num_loops` busy loops run beside all turns but the first.
    """
    lab = lab_of(source_notebook)
    soaked = {answer.name: Soaked(answer.name) for answer in answers}
    jobs = [job_of(answer.name, [answer], source_notebook, lab, asked_tests([answer], lab)) for answer in answers]
    for verdict in _verdicts(jobs, num_times, settings, num_loops):
        report(verdict)
        if verdict.fault:
            soaked[verdict.student].faults.append(verdict.fault)
        else:
            outcome = tuple((score.grade_id, score.points, property_of(score.message)) for score in verdict.scores)
            soaked[verdict.student].outcomes[outcome] += 1
    return tuple(soaked.values())


def _verdicts(jobs: list[Submission], num_times: int, settings: PoolSettings, num_loops: int) -> Iterator[Verdict]:
    if not num_loops:
        yield from judge_all(jobs * num_times, settings)
        return
    yield from judge_all(jobs, settings)
    with busy(num_loops):
        yield from judge_all(jobs * (num_times - 1), settings)


@contextmanager
def busy(num_loops: int) -> Iterator[None]:
    """Keep so many loops running that do nothing but use processors: what a verdict must not depend on."""
    words = [sys.executable, "-I", "-S", "-c", LOOP, str(os.getpid())]
    loops: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(num_loops):
            loops.append(subprocess.Popen(words))  # noqa: PERF401  # those that started are ended if one does not
        yield
    finally:
        for loop in loops:
            loop.kill()
        for loop in loops:
            loop.wait()


def property_of(message: str) -> str:
    """Return which property a message is about, without what may differ from run to run; '' for no message."""
    found = PROPERTY.match(message)
    return found.group() if found else message[:40]
