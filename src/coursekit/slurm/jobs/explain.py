"""Why a job waits, was refused or failed: what Slurm and the end of its log say, in the words of `hints.toml`."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from coursekit import toml_files
from coursekit.environ import FOR_SBATCH
from coursekit.slurm.jobs.slurm_cli import COMPLETED, JobState
from coursekit.slurm.sites.profile import Partition, Site, account, limits
from coursekit.text import format_minutes

NUM_TAIL_BYTES = 64_000
NUM_EXPLANATIONS = 3  # more would bury the first, which is the most telling
NUM_SHOWN = 200  # characters of a line
# The line with which a traceback ends: the exception, at the margin or behind what marks a rank.
_RAISED = re.compile(
    r"^(?:\[?[\w.,<>-]+\]?:\s?)?(?:\w+\.)*(?P<kind>[A-Z]\w*(?:Error|Exception|Interrupt))(?::.*)?$", re.MULTILINE
)
# What is said of an exception that nothing in `hints.toml` knows.
RAISED = "The program ended with {name}. The lines above that in the log, or the executed notebook, say where."
# Exceptions that follow from others.
CONSEQUENCES = frozenset((
    "PapermillExecutionError", "CellExecutionError", "DeadKernelError", "CheckError",
    "RankError", "HorovodInternalError", "CalledProcessError", "KeyboardInterrupt",
))  # fmt: skip
EXPECTED = {"SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION"}  # what an event sets


@dataclass(frozen=True)
class Hint:
    """A row of `hints.toml`, which says what its keys mean."""

    words: str
    patterns: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    exit_codes: tuple[str, ...] = ()
    is_weak: bool = False

    @property
    def examples(self) -> tuple[str, ...]:
        """What a reader sees."""
        return self.seen or self.patterns

    @property
    def pattern(self) -> str:
        """One regular expression for all of its patterns."""
        return "|".join(self.patterns)


@dataclass(frozen=True)
class Hints:
    """`hints.toml`: why a job waits, was refused or ended."""

    waits: tuple[Hint, ...]
    refused: tuple[Hint, ...]
    ended: tuple[Hint, ...]


HINTS = toml_files.load(Hints, Path(__file__).with_name("hints.toml"))
STATES = {state: row.words for row in HINTS.ended for state in row.states}
EXIT_CODES = {code: row.words for row in HINTS.ended for code in row.exit_codes}


class Explanation(NamedTuple):
    """What happened and what to do, in one or two sentences, and what that was recognised by."""

    words: str
    evidence: str

    def __str__(self) -> str:
        """Return both, for people."""
        return f"{self.words}\n    recognised by: {self.evidence}"


def explain_pending(job_id: str, reason: str, start: str = "", now: datetime | None = None) -> str:
    """Return one sentence on why a job waits and when Slurm expects it to start, counted from `now`.

    Reason and start are as `squeue --format='%r %S'` shows them; the start is '' for none.
    """
    fitting = (row.words for row in HINTS.waits if re.fullmatch(row.pattern, reason.replace("_", " ")))
    words = next(fitting, "Slurm gives a reason that this kit does not know").format(job_id=job_id)
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
    found = _matches(log, is_weak=False)
    if raised and not _matches(raised[-1][0], is_weak=False):
        found.append((RAISED, raised[-1]))
    found = found or _matches(log, is_weak=True)
    lines = {_line_start(match) for match in raised}
    found.sort(key=lambda one: (_line_start(one[1]) not in lines, -_line_start(one[1])))
    names = [next(filter(None, match.groupdict().values()), "") for _, match in found]  # what the pattern caught
    return [Explanation(words.format(name=name), _lines_of(match)) for (words, match), name in zip(found, names)]


def _matches(log: str, *, is_weak: bool) -> list[tuple[str, re.Match[str]]]:
    """Return the words of each row that fits, and its last match: a restarted job tells of earlier starts first."""
    rows = [row for row in HINTS.ended if row.patterns and row.is_weak == is_weak]
    found = [(row.words, list(re.finditer(row.pattern, log, re.MULTILINE))) for row in rows]
    return [(words, matches[-1]) for words, matches in found if matches]


def _line_start(match: re.Match[str]) -> int:
    return match.string.rfind("\n", 0, match.start() + 1) + 1


def _lines_of(match: re.Match[str]) -> str:
    """Return the lines in which a match lies as one, so that they can be found again in the log."""
    text, start, end = match.string, match.start(), match.end()
    lines = text[text.rfind("\n", 0, start) + 1 : end] + text[end:].partition("\n")[0]
    return " ".join(lines.split())[:NUM_SHOWN]


def _user_name(number: str) -> str:
    with suppress(ValueError, KeyError, OverflowError):
        return pwd.getpwuid(int(number)).pw_name
    return f"user {number}"


def explain_refusal(
    words: str, site: Site, partition: str | None = None, of_form: Mapping[str, str] | None = None
) -> str:
    """Return one sentence on why `sbatch` refused a script.

    Args:
        words: what it said.
        site: the machine.
        partition: a name in its profile; its default when None.
        of_form: what to write in place of options and variables, where a form was filled in and not a command called.
    """
    fitting = (row.words for row in HINTS.refused if any(one.lower() in words.lower() for one in row.patterns))
    sentence = next(fitting, "")
    chosen = site.partition(partition)
    reason = f": {sentence.format(**_facts(site, chosen), **(of_form or _of_shell(site, chosen)))}" if sentence else ""
    return f"{site.name} refused the job{reason}. Slurm says: {words}.{'' if of_form else _overriding()}"


def _facts(site: Site, chosen: Partition) -> dict[str, str]:
    constraint = [line for line in chosen.directives if "constraint" in line]
    known = {name: limits(site, name) for name in (*chosen.qos, chosen.partition_qos) if name}
    told = "; ".join(f"{name} allows {words}" for name, words in known.items() if words)
    return {
        "partition": chosen.slurm_name,
        "constraint": f" ({', '.join(constraint)})" if constraint else "",
        "time": f"{chosen.slurm_name} allows {format_minutes(chosen.max_time_min)}, and a QOS may allow less",
        "limits": told or "see `sacctmgr show assoc` and `sacctmgr show qos`",
        "script": f"tell the course's instructors, the profile slurm/sites/{site.name}.toml is out of date",
    }


def _of_shell(site: Site, chosen: Partition) -> dict[str, str]:
    qos, reservation = os.environ.get("SBATCH_QOS", ""), os.environ.get("SBATCH_RESERVATION", "")
    return {
        "account": _account(account(site, chosen)),
        "qos": f" {qos}" if qos else "",
        "qos_remedy": f"set SBATCH_QOS to {' or '.join(chosen.qos)}" if chosen.qos else "unset SBATCH_QOS",
        "reservation": f" {reservation}" if reservation else "",
        "reserved": "SBATCH_RESERVATION",
        "without": "unset SBATCH_RESERVATION",
        "nodes": "--nodes",
        "elsewhere": "--partition",
        "look": "look with `coursekit jobs`, then ",
    }


def _account(form: str) -> str:
    given = os.environ.get("SBATCH_ACCOUNT", "")
    if not given:
        return f"no account was given, and there is no default one: `export SBATCH_ACCOUNT={form}`, with your project"
    return (
        f"the account {given} (SBATCH_ACCOUNT) does not exist, is not yours, or is not for this partition: "
        f"set one of the form {form}"
    )


def _overriding() -> str:
    """Return which variables may be to blame: they count more than the lines of a script, and are easily forgotten."""
    names = sorted(name for name in FOR_SBATCH if name in os.environ and name not in EXPECTED)
    return f" These variables of your shell override the script: {', '.join(names)}." if names else ""
