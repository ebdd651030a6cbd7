"""Why a job failed, recognised from accounting and from the end of its log."""

from __future__ import annotations

import pwd
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from coursekit.slurm.jobs.failure_hints import CONSEQUENCES, EXIT_CODES, LOG_HINTS, RAISED, STATES, WEAK_HINTS
from coursekit.slurm.jobs.slurm_cli import COMPLETED, JobState

NUM_TAIL_BYTES = 64_000
NUM_EXPLANATIONS = 3  # more would bury the first, which is the most telling
NUM_SHOWN = 200  # characters of a line
# The line with which a traceback ends: the exception, at the margin or behind what marks a rank.
_RAISED = re.compile(
    r"^(?:\[?[\w.,<>-]+\]?:\s?)?(?:\w+\.)*(?P<kind>[A-Z]\w*(?:Error|Exception|Interrupt))(?::.*)?$", re.MULTILINE
)


class Explanation(NamedTuple):
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
    found = []
    if state.state in STATES:
        by = f" by {_user_name(state.cancelled_by)}" if state.cancelled_by else ""
        found.append(Explanation(STATES[state.state].format(by=by), f"Slurm's state {state.state}"))
    said = _from_log(log)  # it knows, while an exit code only hints
    found += said
    if state.exit_code in EXIT_CODES and not said:
        found.append(Explanation(EXIT_CODES[state.exit_code], f"Slurm's exit code {state.exit_code}"))
    different: list[Explanation] = []
    for one in found:
        if all(one.words != other.words and one.evidence != other.evidence for other in different):
            different.append(one)
    return tuple(different[:NUM_EXPLANATIONS])


def read_tail(path: Path) -> str:
    """Return the end of a log; '' before it is written."""
    with suppress(OSError), path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - NUM_TAIL_BYTES))
        return log.read().decode(errors="replace")
    return ""


def _from_log(log: str) -> list[Explanation]:
    """Return what is recognised: what a traceback ends with, then what is nearest to the end of the log.

    What may be harmless, or follows from something else, is told where nothing else is recognised.
    """
    raised = [match for match in _RAISED.finditer(log) if match["kind"] not in CONSEQUENCES]
    found = [(row, match) for row in LOG_HINTS for match in _last_match(row.pattern, log)]
    is_known = any(re.search(row.pattern, raised[-1][0]) for row in LOG_HINTS) if raised else True
    if not is_known:
        found.append((RAISED, raised[-1]))
    found = found or [(row, match) for row in WEAK_HINTS for match in _last_match(row.pattern, log)]
    lines = {_line_start(match) for match in raised}
    found.sort(key=lambda one: (_line_start(one[1]) not in lines, -_line_start(one[1])))
    names = [next(filter(None, match.groupdict().values()), "") for _, match in found]  # what the pattern caught
    return [Explanation(row.words.format(name=name), _lines_of(match)) for (row, match), name in zip(found, names)]


def _line_start(match: re.Match[str]) -> int:
    return match.string.rfind("\n", 0, match.start() + 1) + 1


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
