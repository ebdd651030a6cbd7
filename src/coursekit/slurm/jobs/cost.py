"""What jobs cost at most, in GPU hours: for a student, and for a class that submits the same job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from coursekit.slurm.jobs.job_script import JobScript, all_jobs, time_limit_min
from coursekit.slurm.sites.profile import Partition, Site
from coursekit.text import counted, format_minutes

CLASS_SIZE = 30
MINUTES_PER_HOUR = 60


@dataclass(frozen=True)
class Cost:
    """What a job costs when it runs until its time limit.

    Attributes:
        what: what is charged: "2 GPUs for 20 min", "1 whole node with 4 GPUs for 20 min".
        gpu_hours: GPU hours until the time limit; GPUs that are charged count, used or not.
        each: who or what submits it: a student, a run.
    """

    what: str
    gpu_hours: float
    each: str

    def words(self) -> str:
        """Return "at most 0.7 GPU hours for a student (2 GPUs for 20 min), 20 GPU hours for a class of 30"."""
        if not self.gpu_hours:
            return "no GPU hours"
        alone = f"at most {hours(self.gpu_hours)} for a {self.each} ({self.what})"
        of_class = f", {hours(self.gpu_hours * CLASS_SIZE)} for a class of {CLASS_SIZE}"
        return alone + (of_class if self.each == "student" else "")


def cost_of(root: Path, job: JobScript, kind: Partition) -> Cost:
    """Return what a job costs on a partition.

    Raises:
        CourseKitError: the partition gives no such job.
    """
    shape, time_min = job.shape(kind), time_limit_min(root, job, kind)
    charged = kind.num_gpus_per_node if kind.whole_nodes else shape.num_tasks_per_node
    num_gpus = shape.num_nodes * charged if kind.has_gpus else 0
    whole = f"{counted(shape.num_nodes, 'whole node')} with " if kind.whole_nodes else ""
    what = f"{whole}{counted(num_gpus, 'GPU')} for {format_minutes(time_min)}"
    return Cost(what, num_gpus * time_min / MINUTES_PER_HOUR, job.launch.each)


def class_costs(root: Path, site: Site) -> list[str]:
    """Return a line on each committed job script of a site: what it costs."""
    return [f"{job.name}: {cost_of(root, job, site.kind()).words()}" for job in all_jobs(root, site)]


def hours(gpu_hours: float) -> str:
    """Return "1 GPU hour" or "0.7 GPU hours"."""
    number = f"{gpu_hours:.1f}".removesuffix(".0")
    return f"{number} GPU hour{'' if number == '1' else 's'}"
