"""Why a job did not end well, recognised from accounting and from the end of its log."""

from __future__ import annotations

import pwd
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.slurm.jobs.failure_hints import EXIT_CODES, LOG_HINTS, STATES
from coursekit.slurm.jobs.states import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from coursekit.slurm.jobs.states import JobState

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
    """Return explanations of a job that ended, the most telling first; () if it completed, or nothing is recognised."""
    if state.state == COMPLETED:
        return ()
    found = _from_state(state) + (_from_log(log) or _from_exit_code(state))  # a log knows, an exit code only hints
    return tuple(_first_of_each(_first_of_each(found, "words"), "evidence"))[:NUM_EXPLANATIONS]


def read_tail(path: Path) -> str:
    """Return the end of a log; '' before it is written."""
    with suppress(OSError), path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - NUM_TAIL_BYTES))
        return log.read().decode(errors="replace")
    return ""


def _first_of_each(explanations: Iterable[Explanation], attribute: str) -> list[Explanation]:
    """Return the explanations without those that have the words, or the evidence, of one before."""
    first: dict[str, Explanation] = {}
    for explanation in explanations:
        first.setdefault(getattr(explanation, attribute), explanation)
    return list(first.values())


def _from_state(state: JobState) -> list[Explanation]:
    if state.state not in STATES:
        return []
    by = f" by {_user_name(state.cancelled_by)}" if state.cancelled_by else ""
    return [Explanation(STATES[state.state].format(by=by), f"Slurm's state {state.state}")]


def _from_exit_code(state: JobState) -> list[Explanation]:
    if state.exit_code not in EXIT_CODES:
        return []
    return [Explanation(EXIT_CODES[state.exit_code], f"Slurm's exit code {state.exit_code}")]


def _from_log(log: str) -> list[Explanation]:
    found = [(row, match) for row in LOG_HINTS for match in _last_match(row.pattern, log)]
    names = [next(filter(None, match.groupdict().values()), "") for _, match in found]  # what the pattern caught
    return [Explanation(row.words.format(name=name), _lines_of(match)) for (row, match), name in zip(found, names)]


def _last_match(pattern: str, log: str) -> list[re.Match[str]]:
    """Return the last match, if any: a job that was put back into the queue tells of its earlier starts first."""
    return list(re.finditer(pattern, log, re.MULTILINE))[-1:]


def _lines_of(match: re.Match[str]) -> str:
    """Return the lines in which a match lies as one, so that they can be found again in the log."""
    text, start, end = match.string, match.start(), match.end()
    lines = text[text.rfind("\n", 0, start) + 1 : end] + text[end:].partition("\n")[0]
    return " ".join(lines.split())[:NUM_SHOWN]


def _user_name(number: str) -> str:
    with suppress(ValueError, KeyError, OverflowError):
        return pwd.getpwuid(int(number)).pw_name
    return f"user {number}"
