"""Why a job waits, and why one failed, recognised from accounting and from the end of its log."""

from __future__ import annotations

import pwd
import re
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from coursekit.slurm.jobs.failure_hints import CONSEQUENCES, EXIT_CODES, LOG_HINTS, RAISED, STATES, WEAK_HINTS, Hint
from coursekit.slurm.jobs.slurm_cli import COMPLETED, JobState

NUM_TAIL_BYTES = 64_000
NUM_EXPLANATIONS = 3  # more would bury the first, which is the most telling
NUM_SHOWN = 200  # characters of a line
# The line with which a traceback ends: the exception, at the margin or behind what marks a rank.
_RAISED = re.compile(
    r"^(?:\[?[\w.,<>-]+\]?:\s?)?(?:\w+\.)*(?P<kind>[A-Z]\w*(?:Error|Exception|Interrupt))(?::.*)?$", re.MULTILINE
)


# What Slurm writes (slurm.schedmd.com/job_reason_codes.html, `job_reason_string` of its library), and what it means.
# The first row that fits counts: the families of limits at the end go from narrow to wide.
REASONS: tuple[Hint, ...] = (
    Hint("|None", "Slurm has not looked at it yet", ("None",)),
    Hint("Priority|SchedDefer", "other jobs are ahead of it"),
    Hint("Resources", "it is among the next; the nodes that it needs are still busy"),
    Hint(
        "ReqNodeNotAvail.*maint.*",
        "maintenance begins before it could end: ask for a shorter time, or wait for it",
        ("ReqNodeNotAvail, Reserved for maintenance",),
    ),
    Hint(
        "ReqNodeNotAvail.*|NodeDown|FrontEndDown|Power.*",
        "nodes that it needs are down, switched off or reserved",
        ("ReqNodeNotAvail", "NodeDown", "FrontEndDown", "PowerNotAvail", "PowerReserved"),
    ),
    Hint(
        "Nodes required for job are DOWN.*",
        "nodes that it needs are down, or kept for more important jobs",
        ("Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",),
    ),
    Hint("Reservation", "its reservation has not begun, or is full"),
    Hint("ReservationDeleted", "its reservation is gone: cancel it and submit without `SBATCH_RESERVATION`"),
    Hint("DependencyNeverSatisfied", "the job that it waits for failed, so it never starts: cancel it"),
    Hint("Dependency", "it waits for another job to end"),
    Hint(
        "BeginTime", "it may not start before a given time; a job that was put back into the queue waits some minutes"
    ),
    Hint("Licenses", "all licences of a program or file system that it asks for are in use"),
    Hint("JobArrayTaskLimit", "its job array has as many running tasks as it may have at once"),
    Hint("JobHeldUser", "you hold it: `scontrol release {job_id}` releases it"),
    Hint("JobHeldAdmin", "an administrator holds it: ask the site's support"),
    Hint("JobHoldMaxRequeue", "it failed to start too often, so Slurm holds it: ask the site's support"),
    Hint(
        "launch failed requeued held|JobLaunchFailure",
        "its node could not start it: `scontrol release {job_id}` tries again",
        ("launch_failed_requeued_held", "JobLaunchFailure"),
    ),
    Hint("PartitionTimeLimit", "it asks for more time than its partition allows, so it never starts: cancel it"),
    Hint("PartitionNodeLimit", "its partition allows fewer nodes, or has fewer at present, than it asks for"),
    Hint("PartitionDown|PartitionInactive", "its partition is closed at present"),
    Hint(
        "PartitionConfig|BadConstraints",
        "no node of its partition has what it asks for, at least at present: cancel it",
    ),
    Hint("InvalidAccount|AccountNotAllowed", "its account may not be used there: cancel it and set `SBATCH_ACCOUNT`"),
    Hint("InvalidQOS|QOSNotAllowed", "its QOS may not be used there: cancel it and set `SBATCH_QOS`, or none"),
    Hint("QOSUsageThreshold", "its account has used too much for this QOS"),
    Hint(
        r"(Assoc|QOS)Grp(\w*Minutes(Limit)?|WallLimit)",
        "your project has used up its hours: ask the course's instructors",
        ("AssocGrpCPUMinutesLimit", "AssocGrpGRESMinutes", "AssocGrpBillingMinutes", "QOSGrpCPUMinutesLimit"),
    ),
    Hint(
        r"QOSMin\w*",
        "it asks for less than the minimum of its QOS: cancel it",
        ("QOSMinCpuNotSatisfied", "QOSMinGRES", "QOSMinMemory"),
    ),
    Hint(
        r"AssociationTimeLimit|QOSTimeLimit|\w*Wall\w*",
        "it asks for more time than you may have",
        (
            *("AssocMaxWallDurationPerJobLimit", "QOSMaxWallDurationPerJobLimit"),
            *("AssociationTimeLimit", "QOSTimeLimit"),
        ),
    ),
    Hint(
        r"\w*(PerJob|PerJobLimit|PerNode)",
        "it asks for more than one job may have: take fewer nodes",
        ("AssocMaxNodePerJobLimit", "QOSMaxCpuPerJobLimit", "QOSMaxGRESPerJob", "QOSMaxNodePerJobLimit"),
    ),
    Hint(
        r"\w*(Submit|Jobs?)\w*(Limit|Account)",
        "you, or your project, have as many jobs as allowed: wait for one to end",
        ("AssocGrpJobsLimit", "AssocMaxJobsLimit", "QOSMaxJobsPerUserLimit", "QOSMaxSubmitJobPerUserLimit"),
    ),
    Hint(
        r"(Assoc|QOS)(iation)?(Grp|Max|Resource)\w*|Max\w+PerAccount|MaxMemPerLimit",
        "your jobs, or your project's, use all that they may use at once: wait for one to end",
        ("AssocGrpGRES", "AssocGrpNodeLimit", "QOSGrpNodeLimit", "QOSMaxGRESPerUser", "QOSMaxNodePerUserLimit"),
    ),
    Hint("AccountingPolicy", "a limit of your account is reached"),
    Hint(
        r"Prolog|Cleaning|BurstBuffer\w*|Block\w+|FedJobLock",
        "Slurm is preparing it, or cleaning up after it",
        ("Prolog", "Cleaning", "BurstBufferResources", "BurstBufferStageIn"),
    ),
    Hint("DeadLine", "it cannot end before its deadline: cancel it"),
)


class Explanation(NamedTuple):
    """What happened and what to do, in one or two sentences, and what that was recognised by."""

    words: str
    evidence: str

    def __str__(self) -> str:
        """Return both, for people."""
        return f"{self.words}\n    recognised by: {self.evidence}"


def explain_pending(job_id: str, reason: str, start: str = "", now: datetime | None = None) -> str:
    """Return one sentence on why a job waits and when Slurm expects it to start.

    Args:
        job_id: the job, for commands that the sentence names.
        reason: Slurm's reason, as `squeue --format=%r` shows it.
        start: the start that Slurm expects, `2026-11-20T17:30:00`; '' for none.
        now: the time to count from; the present when None.
    """
    fitting = (row.words for row in REASONS if re.fullmatch(row.pattern, reason.replace("_", " ")))
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
