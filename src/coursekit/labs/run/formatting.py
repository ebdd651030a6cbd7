"""Numbers and facts of a run as people read them, the same in the terminal and in HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coursekit.labs.run.facts import Facts
    from coursekit.labs.run.results import LabResult

MB_PER_GB = 1000
SECONDS_PER_MINUTE = 60
NOTHING = "-"
NUM_COMMIT_DIGITS = 10
WHOLE_FROM = 100  # from here on decimals say nothing


def format_points(result: LabResult) -> str:
    """Return "18 / 20", without needless decimals."""
    return f"{result.points:g} / {result.max_points:g}" if result.scores else NOTHING


def format_memory(memory_mb: float) -> str:
    """Return megabytes as "512 MB" or "1.23 GB"."""
    if not memory_mb:
        return NOTHING
    return f"{memory_mb:.0f} MB" if memory_mb < MB_PER_GB else f"{memory_mb / MB_PER_GB:.2f} GB"


def format_time(time_s: float) -> str:
    """Return seconds as "12.3 s" or "2 min 05 s"."""
    if not time_s:
        return NOTHING
    if time_s < SECONDS_PER_MINUTE:
        return f"{time_s:.1f} s"
    minutes, seconds = divmod(round(time_s), SECONDS_PER_MINUTE)
    return f"{minutes} min {seconds:02} s"


def describe_commit(facts: Facts) -> str:
    """Return the commit in a few words."""
    if facts.commit is None:
        return "not under git"
    return facts.commit[:NUM_COMMIT_DIGITS] + (" with local changes" if facts.dirty else "")


def describe_machine(facts: Facts) -> str:
    """Return where a run ran: its machine, or all nodes of its job."""
    where = f"{facts.nodes} (Slurm job {facts.job_id})" if facts.nodes else facts.host
    return f"{where}: {facts.device}, {facts.num_cpus} processors usable"


def format_speed(images_per_s: float) -> str:
    """Return images per second of all ranks together: "2410" or "61.5"."""
    if not images_per_s:
        return NOTHING
    return f"{images_per_s:.0f}" if images_per_s >= WHOLE_FROM else f"{images_per_s:.3g}"


def describe_versions(facts: Facts) -> str:
    """Return all versions in one line."""
    return ", ".join(f"{name} {number}" for name, number in facts.versions.items())
