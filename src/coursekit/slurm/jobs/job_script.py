"""What a job script is made from, and how much of a machine it asks for: no more than what it is about takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.labs.build.twin import TWIN_NAME
from coursekit.labs.lab import find_labs
from coursekit.slurm.jobs.directives import LAUNCH_PATTERNS, NO_EVENT, Event, JobShape

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.labs.lab import Lab
    from coursekit.slurm.jobs.directives import LaunchPattern
    from coursekit.slurm.sites.profile import Partition, Site


@dataclass(frozen=True)
class JobScript:
    """What a job script is made from.

    Attributes:
        pattern: one of `LAUNCH_PATTERNS`.
        lab: the lab, for the patterns "lab" and "train".
        partition: a name in the site's file; '' for its default.
        num_nodes: how many nodes; 0 for what the committed scripts ask for.
        event: account, reservation and QOS.
        num_tasks_per_node: ranks of a node; 0 for what the committed scripts ask for, on a given number of nodes
            for one per GPU.
        time_limit_min: the time limit; 0 for that of the pattern.
        arguments: words for the program that the script starts, for a shell.
    """

    site: Site
    pattern: str
    lab: Lab | None = None
    partition: str = ""
    num_nodes: int = 0
    event: Event = NO_EVENT
    num_tasks_per_node: int = 0
    time_limit_min: int = 0
    arguments: str = ""

    @property
    def name(self) -> str:
        """The job's name, which is that of its script: `02-horovod-sgd`, `03-keras-cnn-train`, `solutions`."""
        return f"{self.lab.name}{self.launch.suffix}" if self.lab else self.pattern

    @property
    def launch(self) -> LaunchPattern:
        """What its script has in common with those of other labs and sites."""
        return LAUNCH_PATTERNS[self.pattern]

    @property
    def num_ranks(self) -> int:
        """How many ranks show what it is about; 0 for all GPUs of as many nodes as the site's profile says."""
        return self.lab.resources.num_ranks if self.lab and not self.launch.suffix else self.launch.num_ranks

    def shape(self, kind: Partition) -> JobShape:
        """Return how much of its partition it asks for.

        Raises:
            CourseKitError: no job there may have that many nodes, or no node there has that many GPUs.
        """
        most = most_nodes(kind) or self.num_nodes
        if not 0 <= self.num_nodes <= most:
            raise CourseKitError(
                f"{self.site.name}, partition {kind.slurm_name}: {self.num_nodes} nodes; a job has from 1 to {most}."
            )
        if not 0 <= self.num_tasks_per_node <= kind.num_gpus_per_node:
            raise CourseKitError(
                f"{self.site.name}, partition {kind.slurm_name}: {self.num_tasks_per_node} ranks on each node; "
                f"a node has from 1 to {kind.num_gpus_per_node}."
            )
        if self.num_ranks == 1:
            usual = JobShape(1, 1)
        elif self.num_nodes or not self.num_ranks:
            usual = JobShape(self.site.num_nodes, kind.num_gpus_per_node)
        else:
            usual = smallest_piece(kind, self.num_ranks)
        return JobShape(self.num_nodes or usual.num_nodes, self.num_tasks_per_node or usual.num_tasks_per_node)


def smallest_piece(kind: Partition, num_ranks: int) -> JobShape:
    """Return the smallest piece of a partition with that many ranks; where whole nodes are charged, all GPUs work."""
    num_tasks = kind.num_gpus_per_node if kind.whole_nodes else min(num_ranks, kind.num_gpus_per_node)
    num_nodes = math.ceil(num_ranks / num_tasks)
    return JobShape(min(num_nodes, most_nodes(kind) or num_nodes), num_tasks)


def most_nodes(kind: Partition) -> int:
    """Return the most nodes of a job; 0 where that is not known."""
    return kind.max_num_nodes or kind.num_nodes


def all_jobs(root: Path, site: Site, event: Event = NO_EVENT) -> list[JobScript]:
    """Return all jobs of a site: every lab in every pattern that it has, and those of the site."""
    labs = find_labs(root)
    jobs = [JobScript(site, "lab", lab, event=event) for lab in labs]
    # Labs with a script twin, which a launcher starts on many ranks.
    trained = [lab for lab in labs if (root / "labs" / lab.name / TWIN_NAME).exists()]
    jobs += [JobScript(site, "train", lab, event=event) for lab in trained]
    whole_site = ("solutions", "grade", "jupyter") if site.jupyter.tunnel else ("solutions", "grade")
    return jobs + [JobScript(site, pattern, event=event) for pattern in whole_site]


def time_limit_min(root: Path, job: JobScript, kind: Partition) -> int:
    """Return a job's time limit: its own, its pattern's, or its labs', cut to what the partition allows."""
    labs = [job.lab] if job.lab else find_labs(root)
    asked_min = job.time_limit_min or job.launch.time_limit_min or sum(lab.resources.time_limit_min for lab in labs)
    return min(asked_min, kind.max_time_min)
