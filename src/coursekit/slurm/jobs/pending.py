"""Why a job waits, in plain words."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from coursekit.slurm.jobs.rows import Row

# What Slurm writes (slurm.schedmd.com/job_reason_codes.html, `job_reason_string` of its library), and what it means.
# The first row that fits counts: the families of limits at the end go from narrow to wide.
REASONS: tuple[Row, ...] = (
    Row("|None", "Slurm has not looked at it yet"),
    Row("Priority|SchedDefer", "other jobs are ahead of it"),
    Row("Resources", "it is among the next; the nodes that it needs are still busy"),
    Row("ReqNodeNotAvail.*maint.*", "maintenance begins before it could end: ask for a shorter time, or wait for it"),
    Row("ReqNodeNotAvail.*|NodeDown|FrontEndDown|Power.*", "nodes that it needs are down, switched off or reserved"),
    Row("Nodes required for job are DOWN.*", "nodes that it needs are down, or kept for more important jobs"),
    Row("Reservation", "its reservation has not begun, or is full"),
    Row("ReservationDeleted", "its reservation is gone: cancel it and submit without `SBATCH_RESERVATION`"),
    Row("DependencyNeverSatisfied", "the job that it waits for failed, so it never starts: cancel it"),
    Row("Dependency", "it waits for another job to end"),
    Row("BeginTime", "it may not start before a given time; a job that was put back into the queue waits some minutes"),
    Row("Licenses", "all licences of a program or file system that it asks for are in use"),
    Row("JobArrayTaskLimit", "as many tasks of its array run as may run at once"),
    Row("JobHeldUser", "you hold it: `scontrol release {job_id}` lets it go"),
    Row("JobHeldAdmin", "an administrator holds it: ask the site's support"),
    Row("JobHoldMaxRequeue", "it failed to start too often, so Slurm holds it: ask the site's support"),
    Row(
        "launch failed requeued held|JobLaunchFailure",
        "its node could not start it: `scontrol release {job_id}` retries",
    ),
    Row("PartitionTimeLimit", "it asks for more time than its partition allows, so it never starts: cancel it"),
    Row("PartitionNodeLimit", "its partition allows fewer nodes, or has fewer at present, than it asks for"),
    Row("PartitionDown|PartitionInactive", "its partition is closed at present"),
    Row("PartitionConfig|BadConstraints", "no node of its partition is as it asks for, now at least: cancel it"),
    Row("InvalidAccount|AccountNotAllowed", "its account may not be used there: cancel it and set `SBATCH_ACCOUNT`"),
    Row("InvalidQOS|QOSNotAllowed", "its QOS may not be used there: cancel it and set `SBATCH_QOS`, or none"),
    Row("QOSUsageThreshold", "its account has used too much for this QOS"),
    Row(
        r"(Assoc|QOS)Grp(\w*Minutes(Limit)?|WallLimit)",
        "your project has used up its hours: ask the course's instructors",
    ),
    Row(r"QOSMin\w*", "it asks for less than the least that its QOS takes: cancel it"),
    Row(r"AssociationTimeLimit|QOSTimeLimit|\w*Wall\w*", "it asks for more time than you may have"),
    Row(r"\w*(PerJob|PerJobLimit|PerNode)", "it asks for more than one job may have: take fewer nodes"),
    Row(
        r"\w*(Submit|Jobs?)\w*(Limit|Account)",
        "you, or your project, have as many jobs as may be: wait for one to end",
    ),
    Row(
        r"(Assoc|QOS)(iation)?(Grp|Max|Resource)\w*|Max\w+PerAccount|MaxMemPerLimit",
        "your jobs, or your project's, have all that they may have at once: wait for one to end",
    ),
    Row("AccountingPolicy", "a limit of your account is reached"),
    Row(r"Prolog|Cleaning|BurstBuffer\w*|Block\w+|FedJobLock", "Slurm still gets ready for it, or cleans up after it"),
    Row("DeadLine", "it cannot end before its deadline: cancel it"),
)
SECONDS_PER_MINUTE, MINUTES_PER_HOUR, HOURS_PER_DAY = 60, 60, 24


def explain_pending(job_id: str, reason: str, start: str = "", now: datetime | None = None) -> str:
    """Return one sentence on why a job waits and when Slurm expects it to start.

    Args:
        job_id: the job, for commands that the sentence names.
        reason: Slurm's reason, as `squeue --format=%r` shows it.
        start: the start that Slurm expects, `2026-11-20T17:30:00`; '' for none.
        now: the time to count from; the present when None.
    """
    words = _words(reason.replace("_", " ")).format(job_id=job_id)
    shown = f" ({reason})" if reason else ""
    return f"Job {job_id} waits: {words}{shown}.{_expected(start, now or datetime.now())}"  # noqa: DTZ005 - as Slurm's


def _words(reason: str) -> str:
    for pattern, words in REASONS:
        if re.fullmatch(pattern, reason):
            return words
    return "Slurm gives a reason that this kit does not know"


def _expected(start: str, now: datetime) -> str:
    try:
        expected = datetime.fromisoformat(start)
    except ValueError:
        return ""
    if expected <= now:
        return ""
    return f" Slurm expects it to start at {expected:%H:%M}{_on_day(expected, now)}, in {_in_words(expected - now)}."


def _on_day(expected: datetime, now: datetime) -> str:
    return "" if expected.date() == now.date() else f" on {expected:%A, %d %B}"


def _in_words(wait: timedelta) -> str:
    minutes = max(1, round(wait.total_seconds() / SECONDS_PER_MINUTE))
    if minutes < 2 * MINUTES_PER_HOUR:
        return f"about {minutes} min"
    hours = round(minutes / MINUTES_PER_HOUR)
    return f"about {hours} h" if hours < 2 * HOURS_PER_DAY else f"about {round(hours / HOURS_PER_DAY)} days"
