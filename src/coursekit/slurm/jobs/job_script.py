"""What a job script asks for, no more than what it is about takes, as `#SBATCH` lines, and what that costs at most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coursekit.errors import CourseKitError
from coursekit.labs.build.script import SCRIPT_NAME
from coursekit.labs.lab import Lab, find_labs
from coursekit.slurm.sites.profile import Partition, Site, gpu_options
from coursekit.text import counted, format_minutes

MINUTES_PER_HOUR = 60
CLASS_SIZE = 30
WORDS_COLUMN = 38  # where the words behind directives begin
WHY = {  # words on options that sites add
    "--constraint": "only nodes with this feature",
    "--hint": "one rank's threads on whole cores",
    "--ntasks-per-core": "one task on a core, not on half of one",
    "--exclusive": "whole nodes, shared with nobody",
}
GRADING_GB = 8  # memory that grading needs at least: what one hand-in may use, with what runs it
SAVE_AHEAD_S = 120  # how long before the time limit a job is told to save what it has
JUPYTER_MIN = GRADE_MIN = 60


class JobShape(NamedTuple):
    """How much of a partition a job asks for; a task is one rank."""

    num_nodes: int
    num_tasks_per_node: int

    @property
    def num_ranks(self) -> int:
        """The world size when every task is one rank."""
        return self.num_nodes * self.num_tasks_per_node


@dataclass(frozen=True)
class LaunchPattern:
    """What the job scripts of one template have in common.

    Attributes:
        suffix: what stands behind the lab's name in that of the job.
        signal: what the script hears ahead of its time limit, to save its work and to start again when a node fails;
            '' for a job that can do neither.
        time_limit_min: the time limit; 0 for that of the lab, or of all labs together.
        num_ranks: how many ranks a committed script asks for; 0 for all of as many nodes as the site's profile says,
            and for a lab's notebook as many as show what the lab is about.
        is_grading: whether it judges hand-ins, on the smallest share of a node.
        each: for whom or what one such job is: a student, a run.
    """

    suffix: str = ""
    signal: str = "TERM"
    time_limit_min: int = 0
    num_ranks: int = 0
    is_grading: bool = False
    each: str = "student"


LAUNCH_PATTERNS = {
    "lab": LaunchPattern(),
    # A training has itself requeued at this signal, but not when somebody cancels it: that comes as SIGTERM.
    "train": LaunchPattern("-train", signal="USR1"),
    "solutions": LaunchPattern(each="run"),
    "jupyter": LaunchPattern(time_limit_min=JUPYTER_MIN, num_ranks=2),
    "grade": LaunchPattern(time_limit_min=GRADE_MIN, num_ranks=1, is_grading=True, each="run"),
    # A signal would end a hub's server, and its student would not know why.
    "hub": LaunchPattern(signal=""),
}


@dataclass(frozen=True)
class JobScript:
    """What a job script is made from.

    Attributes:
        pattern: one of `LAUNCH_PATTERNS`.
        lab: the lab, for the patterns "lab" and "train".
        partition: a name in the site's file; '' for its default.
        num_nodes: how many nodes; 0 for what the committed scripts ask for.
        num_tasks_per_node: ranks of a node; 0 for what the committed scripts ask for, on a given number of nodes
            for one per GPU.
        account: the project, without the partition's suffix; committed scripts leave it to `SBATCH_ACCOUNT`.
        reservation: likewise.
        time_limit_min: the time limit; 0 for that of the pattern.
        arguments: words for the program that the script starts, for a shell.
    """

    site: Site
    pattern: str
    lab: Lab | None = None
    partition: str = ""
    num_nodes: int = 0
    num_tasks_per_node: int = 0
    account: str = ""
    reservation: str = ""
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
        where, most = f"{self.site.name}, partition {kind.slurm_name}", most_nodes(kind) or self.num_nodes
        if not 0 <= self.num_nodes <= most:
            raise CourseKitError(f"{where}: {self.num_nodes} nodes; a job has from 1 to {most}.", "job.nodes")
        num_tasks, most = self.num_tasks_per_node, kind.num_gpus_per_node
        if not 0 <= num_tasks <= most:
            raise CourseKitError(f"{where}: {num_tasks} ranks on each node; a node has from 1 to {most}.", "job.ranks")
        if self.num_ranks == 1:
            usual = JobShape(1, 1)
        elif self.num_nodes or not self.num_ranks:
            usual = JobShape(self.site.num_nodes, kind.num_gpus_per_node)
        else:
            usual = _smallest_piece(kind, self.num_ranks)
        return JobShape(self.num_nodes or usual.num_nodes, self.num_tasks_per_node or usual.num_tasks_per_node)


def _smallest_piece(kind: Partition, num_ranks: int) -> JobShape:
    """Return the smallest piece of a partition with that many ranks; where whole nodes are charged, all GPUs work."""
    num_tasks = kind.num_gpus_per_node if kind.whole_nodes else min(num_ranks, kind.num_gpus_per_node)
    num_nodes = math.ceil(num_ranks / num_tasks)
    return JobShape(min(num_nodes, most_nodes(kind) or num_nodes), num_tasks)


def most_nodes(kind: Partition) -> int:
    """Return the most nodes of a job; 0 where that is not known."""
    return kind.max_num_nodes or kind.num_nodes


def all_jobs(root: Path, site: Site) -> list[JobScript]:
    """Return all jobs of a site: every lab in every pattern that it has, and those of the site."""
    labs = find_labs(root)
    # Labs with a script, which a launcher starts on many ranks.
    trained = [lab for lab in labs if (root / "labs" / lab.name / SCRIPT_NAME).exists()]
    whole_site = ("solutions", "grade", "jupyter") if site.jupyter.tunnel else ("solutions", "grade")
    return [
        *(JobScript(site, "lab", lab) for lab in labs),
        *(JobScript(site, "train", lab) for lab in trained),
        *(JobScript(site, pattern) for pattern in whole_site),
    ]


def time_limit_min(root: Path, job: JobScript, kind: Partition) -> int:
    """Return a job's time limit: its own, its pattern's, or its labs', cut to what the partition allows."""
    labs = [job.lab] if job.lab else find_labs(root)
    asked_min = job.time_limit_min or job.launch.time_limit_min or sum(lab.resources.time_limit_min for lab in labs)
    return min(asked_min, kind.max_time_min)


def gpu_hours(root: Path, job: JobScript, kind: Partition) -> float:
    """Return what a job costs when it runs until its time limit; GPUs that are charged count, used or not."""
    return num_charged(job, kind) * time_limit_min(root, job, kind) / MINUTES_PER_HOUR


def cost(root: Path, job: JobScript, kind: Partition) -> str:
    """Return "at most 0.7 GPU hours for a student (2 GPUs for 20 min), 20 GPU hours for a class of 30"."""
    num_hours, each = gpu_hours(root, job, kind), job.launch.each
    if not num_hours:
        return "no GPU hours"
    whole = f"{counted(job.shape(kind).num_nodes, 'whole node')} with " if kind.whole_nodes else ""
    what = f"{whole}{counted(num_charged(job, kind), 'GPU')} for {format_minutes(time_limit_min(root, job, kind))}"
    of_class = f", {hours(num_hours * CLASS_SIZE)} for a class of {CLASS_SIZE}" if each == "student" else ""
    return f"at most {hours(num_hours)} for a {each} ({what}){of_class}"


def num_charged(job: JobScript, kind: Partition) -> int:
    """Return how many GPUs a job is charged for, used or not."""
    shape = job.shape(kind)
    num_gpus = kind.num_gpus_per_node if kind.whole_nodes else shape.num_tasks_per_node
    return shape.num_nodes * num_gpus if kind.has_gpus else 0


def hours(gpu_hours: float) -> str:
    """Return "1 GPU hour" or "0.7 GPU hours"."""
    number = f"{gpu_hours:.1f}".removesuffix(".0")
    return f"{number} GPU hour{'' if number == '1' else 's'}"


def directives(job: JobScript, kind: Partition, time_min: int) -> list[str]:
    """Return the `#SBATCH` lines of a job, each with a word for the reader."""
    launch, shape = job.launch, job.shape(kind)
    task, cpus = "one task per rank, one rank per GPU", "a rank's share of the node"
    num_cpus = kind.num_cpus_per_gpu
    if launch.is_grading:
        task, cpus = "one task", "as many hand-ins at a time, if memory is enough"
        enough = math.ceil(GRADING_GB * kind.num_cpus_per_node / kind.memory_gb)  # cores that bring the memory
        num_cpus = min(kind.num_cpus_per_node, max(kind.num_cpus_per_gpu, enough))
    hours, minutes = divmod(time_min, MINUTES_PER_HOUR)
    asked = [
        (f"--job-name={job.name}", ""),
        ("--output=%x-%j.out", "what is printed: %x is the job's name, %j its number"),
        (f"--partition={kind.slurm_name}" if kind.requested else "", "the kind of nodes"),
        *((line, WHY.get(line.partition("=")[0], "")) for line in kind.directives),
        (f"--account={job.account}{kind.account_suffix}" if job.account else "", ""),
        (f"--reservation={job.reservation}" if job.reservation else "", ""),
        (f"--qos={kind.qos[0]}" if kind.qos else "", "limits of time and size"),
        (f"--nodes={shape.num_nodes}", ""),
        (f"--ntasks-per-node={shape.num_tasks_per_node}", task),
        (f"--cpus-per-task={num_cpus}", cpus),
        *((option, kind.gpu) for option in gpu_options(kind, shape.num_tasks_per_node)),
        (f"--time={hours:02d}:{minutes:02d}:00", "the time limit: h:m:s"),
    ]
    if launch.signal:
        asked += [
            (f"--signal=B:{launch.signal}@{SAVE_AHEAD_S}", "seconds before the limit: save what is there"),
            ("--requeue", "when a node fails, the job starts again"),
            ("--open-mode=append", "and continues the same log"),
        ]
    else:
        asked.append(("--no-requeue", "it does not start again by itself"))
    lines = [(f"#SBATCH {option}", why) for option, why in asked if option]
    return [f"{line:<{WORDS_COLUMN}} # {why}" if why else line for line, why in lines]
