"""Why a job waits, in plain words."""

from __future__ import annotations

import re
from datetime import datetime

from coursekit.slurm.jobs.failure_hints import Hint

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
