"""Why a job did not end well, recognised from accounting and from the end of its log."""

from __future__ import annotations

import pwd
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.jobs.signs import EXIT_CODES, SIGNS, STATES
from coursekit.jobs.states import COMPLETED

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.jobs.states import JobState

NUM_TAIL_BYTES = 64_000
NUM_EXPLANATIONS = 3  # more would bury the first, which is the most telling
NUM_SHOWN = 200  # characters of a line


@dataclass(frozen=True)
class Explanation:
    """What happened and what to do, in one or two sentences, and what that was recognised by."""

    words: str
    evidence: str

    def __str__(self) -> str:
        """Return both, for people."""
        return f"{self.words}\n    recognised by: {self.evidence}"


def explain(state: JobState, log: str) -> tuple[Explanation, ...]:
    """Return explanations of a job that ended, the most telling first; () for one that completed or is a riddle.

    Args:
        state: what Slurm says.
        log: the end of the job's log.
    """
    if state.state == COMPLETED:
        return ()
    found = [*_from_accounting(state), *_from_log(log)]
    if len(found) > 1 and found[0].evidence in _exit_code_evidence(state):
        found = found[1:]  # an exit code alone guesses, the log knows
    distinct = {explanation.words.partition(".")[0]: explanation for explanation in reversed(found)}
    return tuple(reversed(tuple(distinct.values())))[:NUM_EXPLANATIONS]


def read_tail(path: Path) -> str:
    """Return the end of a log; '' while there is none."""
    with suppress(OSError), path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - NUM_TAIL_BYTES))
        return log.read().decode(errors="replace")
    return ""


def _from_accounting(state: JobState) -> list[Explanation]:
    if state.state in STATES:
        by = f" by {_user_name(state.cancelled_by)}" if state.cancelled_by else ""
        return [Explanation(STATES[state.state].format(by=by), f"Slurm's state {state.state}")]
    if state.exit_code in EXIT_CODES:
        return [Explanation(EXIT_CODES[state.exit_code], _exit_code_evidence(state))]
    return []


def _exit_code_evidence(state: JobState) -> str:
    return f"Slurm's exit code {state.exit_code}"


def _from_log(log: str) -> list[Explanation]:
    lines = log.splitlines()
    return [
        Explanation(words.format(name=_caught(match)), match.string.strip()[:NUM_SHOWN])
        for pattern, words in SIGNS
        for match in _last_match(pattern, lines)
    ]


def _last_match(pattern: str, lines: list[str]) -> list[re.Match[str]]:
    """Return the last line's match, if any: a job that was put back into the queue tells of its earlier runs first."""
    matches = [match for match in map(re.compile(pattern).search, lines) if match]
    return matches[-1:]


def _caught(match: re.Match[str]) -> str:
    return next((text for text in match.groupdict().values() if text), "")


def _user_name(number: str) -> str:
    with suppress(ValueError, KeyError, OverflowError):
        return pwd.getpwuid(int(number)).pw_name
    return f"user {number}"
