"""Explain why a job waits, was refused or failed, by matching Slurm's messages and the job's log with `hints.toml`."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from coursekit import toml_files
from coursekit.environ import FOR_SBATCH
from coursekit.errors import Cause
from coursekit.slurm.jobs.slurm_cli import COMPLETED, JobState
from coursekit.slurm.sites.profile import Site, account, limits
from coursekit.text import format_minutes

NUM_TAIL_BYTES = 64_000
NUM_EXPLANATIONS = 3  # more would bury the first explanation, which is the most informative
NUM_SHOWN = 200  # characters of a line
# The last line of a traceback, with the exception, which begins at the margin or after a rank's prefix.
_RAISED = re.compile(
    r"^(?:\[?[\w.,<>-]+\]?:\s?)?(?:\w+\.)*(?P<name>[A-Z]\w*(?:Error|Exception|Interrupt))(?::.*)?$", re.MULTILINE
)
# Exceptions that follow from other exceptions.
CONSEQUENCES = frozenset((
    "PapermillExecutionError", "CellExecutionError", "DeadKernelError", "CheckError",
    "RankError", "HorovodInternalError", "CalledProcessError", "KeyboardInterrupt",
))  # fmt: skip
EXPECTED = ("SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION")  # users set these for a course


@dataclass(frozen=True)
class Hint:
    """A row of `hints.toml`, a file that also explains the keys; `code` is the name of the row."""

    words: str
    patterns: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    exit_codes: tuple[str, ...] = ()
    is_weak: bool = False
    code: str = ""

    @property
    def examples(self) -> tuple[str, ...]:
        """Examples of the messages, as users see them."""
        return self.seen or self.patterns

    @property
    def pattern(self) -> str:
        """All patterns of the row as one regular expression."""
        return "|".join(self.patterns)


@dataclass(frozen=True)
class Hints:
    """The rows of `hints.toml` by code: why a job waits, was refused or ended; `unknown` is used if no row matches."""

    unknown: Mapping[str, Hint]
    waits: Mapping[str, Hint]
    refused: Mapping[str, Hint]
    ended: Mapping[str, Hint]


_FILE = toml_files.load(Hints, Path(__file__).with_name("hints.toml"))
(UNKNOWN_WAIT, UNKNOWN_EXCEPTION), WHY_WAITING, WHY_REFUSED, WHY_ENDED = (
    [replace(row, code=code) for code, row in rows.items()]
    for rows in (_FILE.unknown, _FILE.waits, _FILE.refused, _FILE.ended)
)


class Explanation(NamedTuple):
    """One or two sentences that say what happened and what to do, with a code and the evidence."""

    words: str
    code: str
    evidence: str

    def __str__(self) -> str:
        """Return the sentences, the code and the evidence as text."""
        return f"{Cause(self.words, self.code)}\n    recognised by: {self.evidence}"


def reason_of(reason: str) -> Hint:
    """Return the row that explains why a job waits, given the reason as `squeue --format=%r` shows it."""
    return next((row for row in WHY_WAITING if re.fullmatch(row.pattern, reason.replace("_", " "))), UNKNOWN_WAIT)


def explain_pending(job_id: str, reason: str, start: str = "", now: datetime | None = None) -> str:
    """Return a sentence that says why a job waits and, if Slurm expects a start after `now`, when it will start.

    `reason` and `start` are as `squeue --format='%r %S'` shows them; `start` is '' if Slurm gives no time.
    """
    words = reason_of(reason).words.format(job_id=job_id)
    shown = f" ({reason})" if reason else ""
    return f"Job {job_id} waits: {words}{shown}.{_expected(start, now or datetime.now())}"  # noqa: DTZ005 - as Slurm's


def _expected(start: str, now: datetime) -> str:
    try:
        expected = datetime.fromisoformat(start)
    except ValueError:
        return ""
    if expected <= now:
        return ""
    day = "" if expected.date() == now.date() else f" on {expected:%A, %d %B}"
    return f" Slurm expects it to start at {expected:%H:%M}{day}."


def explain(state: JobState, log: str) -> tuple[Explanation, ...]:
    """Return explanations of a job's end, the most informative first; () if it completed or nothing was recognised."""
    if state.state == COMPLETED:
        return ()
    by = f" by {_user_name(state.cancelled_by)}" if state.cancelled_by else ""
    found = [
        Explanation(row.words.format(by=by), row.code, f"Slurm's state {state.state}")
        for row in WHY_ENDED
        if state.state in row.states
    ]
    if said := _from_log(log):  # the log is reliable, while an exit code is only a hint
        found += said
    else:
        found += [
            Explanation(row.words, row.code, f"Slurm's exit code {state.exit_code}")
            for row in WHY_ENDED
            if state.exit_code in row.exit_codes
        ]
    different: list[Explanation] = []
    for one in found:
        if all(one.code != other.code and one.evidence != other.evidence for other in different):
            different.append(one)
    return tuple(different[:NUM_EXPLANATIONS])


def read_tail(path: Path) -> str:
    """Return the end of a log; '' if it cannot be read, for example because it does not exist yet."""
    with suppress(OSError), path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - NUM_TAIL_BYTES))
        return log.read().decode(errors="replace")
    return ""


def _from_log(log: str) -> list[Explanation]:
    """Return an explanation of each match in a log: first the exceptions that end a traceback, then the other matches.

    In both groups, the latest match comes first. Weak rows, whose messages may be harmless or follow from other errors,
    count only if nothing else was recognised.
    """
    raised = [match for match in _RAISED.finditer(log) if match["name"] not in CONSEQUENCES]
    found = _matches(log, is_weak=False)
    if raised and not _matches(raised[-1][0], is_weak=False):
        found.append((UNKNOWN_EXCEPTION, raised[-1]))
    ends = {_lines_of(match)[0] for match in raised}
    explanations = []
    for row, match in found or _matches(log, is_weak=True):
        start, line = _lines_of(match)
        name = next(filter(None, match.groupdict().values()), "")  # what the pattern captured
        explanations.append((start not in ends, -start, Explanation(row.words.format(name=name), row.code, line)))
    return [explanation for *_, explanation in sorted(explanations, key=lambda one: one[:2])]


def _matches(log: str, *, is_weak: bool) -> list[tuple[Hint, re.Match[str]]]:
    """Return each matching row with its last match, because the log of a restarted job begins with earlier attempts."""
    rows = [row for row in WHY_ENDED if row.patterns and row.is_weak == is_weak]
    found = [(row, list(re.finditer(row.pattern, log, re.MULTILINE))) for row in rows]
    return [(row, matches[-1]) for row, matches in found if matches]


def _lines_of(match: re.Match[str]) -> tuple[int, str]:
    """Return where the lines of a match begin, and these lines joined into one, which users can find in the log."""
    text, end = match.string, match.end()
    start = text.rfind("\n", 0, match.start() + 1) + 1
    lines = text[start:end] + text[end:].partition("\n")[0]
    return start, " ".join(lines.split())[:NUM_SHOWN]


def _user_name(number: str) -> str:
    with suppress(ValueError, KeyError, OverflowError):
        return pwd.getpwuid(int(number)).pw_name
    return f"user {number}"


def explain_refusal(words: str, site: Site, key: str = "", of_form: dict[str, str] | None = None) -> Cause:
    """Return a sentence that says why `sbatch` refused a script, with its code.

    Args:
        words: the command's error message.
        site: the machine.
        key: a partition's name in the machine's profile; '' for the default partition.
        of_form: texts that replace the advice on shell variables if the user filled in a form.
    """
    fitting = (row for row in WHY_REFUSED if any(one.lower() in words.lower() for one in row.patterns))
    facts, overriding = _of_site(site, key) | (of_form or _of_shell(site, key)), "" if of_form else _overriding()
    reason, code = next(((f": {row.words.format(**facts)}", row.code) for row in fitting), ("", "refused.unknown"))
    return Cause(f"{site.name} refused the job{reason}. Slurm says: {words}.{overriding}", code)


def _of_site(site: Site, key: str) -> dict[str, str]:
    partition = site.partition(key)
    constraint = [line for line in partition.directives if "constraint" in line]
    known = {name: limits(site, name) for name in (*partition.qos, partition.partition_qos) if name}
    allowed = "; ".join(f"{name} allows {words}" for name, words in known.items() if words)
    return {
        "partition": partition.slurm_name,
        "constraint": f" ({', '.join(constraint)})" if constraint else "",
        "time": f"{partition.slurm_name} allows {format_minutes(partition.max_time_min)}, and a QOS may allow less",
        "limits": allowed or "see `sacctmgr show assoc` and `sacctmgr show qos`",
        "script": f"tell the course's instructors that the profile slurm/sites/{site.name}.toml is out of date",
    }


def _of_shell(site: Site, key: str) -> dict[str, str]:
    partition, form = site.partition(key), account(site, site.partition(key))
    given, qos, reservation = (os.environ.get(name, "") for name in EXPECTED)
    wrong = (
        f"the account {given} (SBATCH_ACCOUNT) does not exist, is not yours, or may not use this partition: "
        f"set an account of the form {form}"
    )
    none = f"no account was given, and you have no default: `export SBATCH_ACCOUNT={form}`, with your project's name"
    return {
        "account": wrong if given else none,
        "qos": f" {qos}" if qos else "",
        "qos_remedy": f"set SBATCH_QOS to {' or '.join(partition.qos)}" if partition.qos else "unset SBATCH_QOS",
        "reservation": f" {reservation}" if reservation else "",
        "without": "unset SBATCH_RESERVATION",
    }


def _overriding() -> str:
    """Return a sentence that names variables which override the script and are easily forgotten; '' if none is set."""
    names = sorted(name for name in FOR_SBATCH if name in os.environ and name not in EXPECTED)
    return f" These variables of your shell override the script: {', '.join(names)}." if names else ""
