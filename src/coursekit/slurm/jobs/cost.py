"""What jobs cost at most, in GPU hours: for a student, and for a class that submits the same job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from coursekit.slurm.jobs.job_script import JobScript, JobShape, all_jobs, time_limit_min
from coursekit.slurm.sites.profile import Partition, Site
from coursekit.text import counted, format_minutes

CLASS_SIZE = 30
STUDENT = "student"
MINUTES_PER_HOUR = 60


@dataclass(frozen=True)
class Cost:
    """What a job costs when it runs until its time limit.

    Attributes:
        kind: the partition.
        shape: nodes, and ranks on each.
        time_min: the time limit.
        each: who or what submits it: a student, a run, a task of an array.
    """

    kind: Partition
    shape: JobShape
    time_min: int
    each: str

    @property
    def num_gpus(self) -> int:
        """GPUs that are charged, used or not."""
        charged = self.kind.num_gpus_per_node if self.kind.whole_nodes else self.shape.num_tasks_per_node
        return self.shape.num_nodes * charged if self.kind.has_gpus else 0

    @property
    def gpu_hours(self) -> float:
        """GPU hours until the time limit."""
        return self.num_gpus * self.time_min / MINUTES_PER_HOUR

    @property
    def what(self) -> str:
        """What is charged: "2 GPUs for 20 min", "1 whole node with 4 GPUs for 20 min"."""
        whole = f"{counted(self.shape.num_nodes, 'whole node')} with " if self.kind.whole_nodes else ""
        return f"{whole}{counted(self.num_gpus, 'GPU')} for {format_minutes(self.time_min)}"

    def words(self) -> str:
        """Return "at most 0.7 GPU hours for a student (2 GPUs for 20 min), 20 GPU hours for a class of 30"."""
        if not self.num_gpus:
            return "no GPU hours"
        alone = f"at most {hours(self.gpu_hours)} for a {self.each} ({self.what})"
        return f"{alone}, {hours(self.gpu_hours * CLASS_SIZE)} for a class of {CLASS_SIZE}" if self.of_class else alone

    @property
    def of_class(self) -> bool:
        """Whether every student of a class submits it."""
        return self.each == STUDENT


def cost_of(root: Path, job: JobScript, kind: Partition) -> Cost:
    """Return what a job costs on a partition.

    Raises:
        CourseKitError: the partition gives no such job.
    """
    return Cost(kind, job.shape(kind), time_limit_min(root, job, kind), job.launch.each)


def class_costs(root: Path, site: Site, num_students: int) -> list[str]:
    """Return a line on each committed job script of a site: what it asks for, and its GPU hours."""
    kind = site.kind()
    costs = {job.name: cost_of(root, job, kind) for job in all_jobs(root, site)}
    rows = [
        (name, cost.what, number(cost.gpu_hours), number(cost.gpu_hours * num_students) if cost.of_class else "")
        for name, cost in costs.items()
    ]
    names, whats = (max(len(row[column]) for row in rows) for column in (0, 1))
    return [
        f"GPU hours at most: of one job, and of one for each of {num_students} students",
        *(f"{name:<{names}}  {what:<{whats}} {one:>5} {all_:>5}".rstrip() for name, what, one, all_ in rows),
    ]


def number(number_h: float) -> str:
    """Return hours as "0.7" or "20"."""
    return f"{number_h:.1f}".removesuffix(".0")


def hours(number_h: float) -> str:
    """Return "1 GPU hour" or "0.7 GPU hours"."""
    return f"{number(number_h)} GPU hour{'' if number(number_h) == '1' else 's'}"
