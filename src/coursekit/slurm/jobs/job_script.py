"""Decide what a job script requests, which is no more than the job needs; write its `#SBATCH` lines and its cost."""

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
WORDS_COLUMN = 38  # where the comments after directives begin
WHY = {  # comments on options that sites add
    "--constraint": "only nodes with this feature",
    "--hint": "one rank's threads on whole cores",
    "--ntasks-per-core": "one task on a core, not on half of one",
    "--exclusive": "whole nodes, shared with nobody",
}
GRADING_GB = 8  # minimum memory for grading: for one hand-in and the program that runs it
SAVE_AHEAD_S = 120  # how long before its time limit a job gets the signal to save its work
JUPYTER_MIN = GRADE_MIN = 60
CONFIRM_MIN = 10


class JobShape(NamedTuple):
    """How much of a partition a job requests; each task is one rank."""

    num_nodes: int
    num_tasks_per_node: int

    @property
    def num_ranks(self) -> int:
        """The world size: every task is one rank."""
        return self.num_nodes * self.num_tasks_per_node


@dataclass(frozen=True)
class LaunchPattern:
    """Everything that job scripts from the same template have in common.

    Attributes:
        suffix: text after the lab's name in the job's name.
        signal: the signal that tells the script to save its work before its time limit; '' if the job cannot save its
            work. Only a job with a signal is restarted when a node fails.
        time_limit_min: the time limit; 0 for the lab's own limit.
        num_ranks: the number of ranks that a committed script requests. If it is 0, the job of a notebook requests the
            lab's number, and any other job all GPUs of as many nodes as the site's profile gives.
        is_grading: whether the job grades hand-ins, on the smallest possible share of a node.
        each: the unit for which the cost of a job is given, "student" or "run".
    """

    suffix: str = ""
    signal: str = "TERM"
    time_limit_min: int = 0
    num_ranks: int = 0
    is_grading: bool = False
    each: str = "student"


LAUNCH_PATTERNS = {
    "lab": LaunchPattern(),
    # A training job requeues itself on this signal, but not on SIGTERM, which it gets when it is cancelled.
    "train": LaunchPattern("-train", signal="USR1"),
    "solutions": LaunchPattern(each="run"),
    "jupyter": LaunchPattern(time_limit_min=JUPYTER_MIN, num_ranks=2),
    "grade": LaunchPattern(time_limit_min=GRADE_MIN, num_ranks=1, is_grading=True, each="run"),
    "confirm": LaunchPattern(signal="", time_limit_min=CONFIRM_MIN, each="run"),
    # A signal would end the server that a hub started, and the student would not know why.
    "hub": LaunchPattern(signal=""),
}


@dataclass(frozen=True)
class JobScript:
    """The data from which a job script is made.

    Attributes:
        pattern: a name in `LAUNCH_PATTERNS`.
        lab: the lab, for the patterns "lab" and "train".
        key: a partition's name in the site's file; '' for the default partition.
        num_nodes: the number of nodes; 0 for the number that committed scripts request.
        num_tasks_per_node: ranks per node; 0 for the number that committed scripts request or, if the number of nodes
            is given, for one rank per GPU.
        time_limit_min: the time limit; 0 for the limit of the pattern or the lab.
        account: the project, without the partition's suffix; '' in committed scripts, which leave it to
            `SBATCH_ACCOUNT`.
        reservation: a reservation of nodes; '' in committed scripts.
        arguments: arguments for the program that the script starts, quoted for a shell.
    """

    site: Site
    pattern: str
    lab: Lab | None = None
    key: str = ""
    num_nodes: int = 0
    num_tasks_per_node: int = 0
    time_limit_min: int = 0
    account: str = ""
    reservation: str = ""
    arguments: str = ""

    @property
    def name(self) -> str:
        """The name of the job and its script, such as `02-horovod-sgd`, `03-keras-cnn-train` or `solutions`."""
        return f"{self.lab.name}{self.launch.suffix}" if self.lab else self.pattern

    @property
    def launch(self) -> LaunchPattern:
        """The job's launch pattern, which it shares with scripts for other labs and sites."""
        return LAUNCH_PATTERNS[self.pattern]

    @property
    def partition(self) -> Partition:
        """The partition that the job requests."""
        return self.site.partition(self.key)

    @property
    def num_ranks(self) -> int:
        """The number of ranks that the job needs; 0 for all GPUs of as many nodes as the site's profile gives."""
        return self.lab.resources.num_ranks if self.lab and not self.launch.suffix else self.launch.num_ranks

    @property
    def shape(self) -> JobShape:
        """How much of its partition the job requests.

        Raises:
            CourseKitError: no job in the partition may have that many nodes, or no node in it has that many GPUs.
        """
        partition, num_nodes, num_tasks = self.partition, self.num_nodes, self.num_tasks_per_node
        where, most = f"{self.site.name}, partition {partition.slurm_name}", most_nodes(partition) or num_nodes
        if not 0 <= num_nodes <= most:
            raise CourseKitError(f"{where}: ask for 1 to {most} nodes, not {num_nodes}.", "job.nodes")
        if not 0 <= num_tasks <= (most := partition.num_gpus_per_node):
            raise CourseKitError(f"{where}: ask for 1 to {most} ranks per node, not {num_tasks}.", "job.ranks")
        if self.num_ranks == 1:
            usual = JobShape(1, 1)
        elif num_nodes or not self.num_ranks:
            usual = JobShape(self.site.num_nodes, partition.num_gpus_per_node)
        else:
            usual = _smallest_piece(partition, self.num_ranks)
        return JobShape(num_nodes or usual.num_nodes, num_tasks or usual.num_tasks_per_node)

    @property
    def time_min(self) -> int:
        """The job's time limit, which is no longer than its partition allows."""
        of_lab = self.lab.resources.time_limit_min if self.lab else 0
        return min(self.time_limit_min or self.launch.time_limit_min or of_lab, self.partition.max_time_min)

    @property
    def num_charged(self) -> int:
        """The number of GPUs that the job is charged for, whether or not it uses them."""
        num_gpus = self.partition.num_gpus_per_node if self.partition.whole_nodes else self.shape.num_tasks_per_node
        return self.shape.num_nodes * num_gpus if self.partition.has_gpus else 0

    @property
    def gpu_hours(self) -> float:
        """The cost of the job if it runs until its time limit."""
        return self.num_charged * self.time_min / MINUTES_PER_HOUR


def _smallest_piece(partition: Partition, num_ranks: int) -> JobShape:
    """Return the smallest part of a partition for this many ranks; if whole nodes are charged, use all their GPUs."""
    num_gpus = partition.num_gpus_per_node
    num_tasks = num_gpus if partition.whole_nodes else min(num_ranks, num_gpus)
    num_nodes = math.ceil(num_ranks / num_tasks)
    return JobShape(min(num_nodes, most_nodes(partition) or num_nodes), num_tasks)


def most_nodes(partition: Partition) -> int:
    """Return the maximum number of nodes in a job; 0 if it is not known."""
    return partition.max_num_nodes or partition.num_nodes


def all_jobs(root: Path, site: Site) -> list[JobScript]:
    """Return all jobs of a site: the jobs of each lab, and the jobs that belong to no lab."""
    labs = find_labs(root)
    # The labs that have a training script, which a launcher starts on many ranks.
    trained = [lab for lab in labs if (root / "labs" / lab.name / SCRIPT_NAME).exists()]
    return [
        *(JobScript(site, "lab", lab) for lab in labs),
        *(JobScript(site, "train", lab) for lab in trained),
        JobScript(site, "solutions", time_limit_min=sum(lab.resources.time_limit_min for lab in labs)),
        *(JobScript(site, pattern) for pattern in ("grade", "jupyter") if pattern == "grade" or site.jupyter.tunnel),
    ]


def cost(job: JobScript) -> str:
    """Return text such as "at most 0.7 GPU hours for a student (2 GPUs for 20 min), 20 GPU hours for a class of 30"."""
    num_hours, each = job.gpu_hours, job.launch.each
    if not num_hours:
        return "no GPU hours"
    whole = f"{counted(job.shape.num_nodes, 'whole node')} with " if job.partition.whole_nodes else ""
    what = f"{whole}{counted(job.num_charged, 'GPU')} for {format_minutes(job.time_min)}"
    of_class = f", {hours(num_hours * CLASS_SIZE)} for a class of {CLASS_SIZE}" if each == "student" else ""
    return f"at most {hours(num_hours)} for a {each} ({what}){of_class}"


def hours(gpu_hours: float) -> str:
    """Return a number of GPU hours as text, such as "1 GPU hour" or "0.7 GPU hours"."""
    number = f"{gpu_hours:.1f}".removesuffix(".0")
    return f"{number} GPU hour{'' if number == '1' else 's'}"


def directives(job: JobScript) -> list[str]:
    """Return the `#SBATCH` lines of a job, most of which have a comment for the reader."""
    launch, partition, shape = job.launch, job.partition, job.shape
    task, cpus = "one task per rank, one rank per GPU", "a rank's share of the node"
    num_cpus = partition.num_cpus_per_gpu
    if launch.is_grading:
        task, cpus = "one task", "as many hand-ins at a time, if there is enough memory"
        enough = math.ceil(
            GRADING_GB * partition.num_cpus_per_node / partition.memory_gb
        )  # cores that come with that memory
        num_cpus = min(partition.num_cpus_per_node, max(partition.num_cpus_per_gpu, enough))
    hours, minutes = divmod(job.time_min, MINUTES_PER_HOUR)
    asked = [
        (f"--job-name={job.name}", ""),
        ("--output=%x-%j.out", "what is printed: %x is the job's name, %j its number"),
        (f"--partition={partition.slurm_name}" if partition.requested else "", "the kind of nodes"),
        *((line, WHY.get(line.partition("=")[0], "")) for line in partition.directives),
        (f"--account={job.account}{partition.account_suffix}" if job.account else "", ""),
        (f"--reservation={job.reservation}" if job.reservation else "", ""),
        (f"--qos={partition.qos[0]}" if partition.qos else "", "limits on time and size"),
        (f"--nodes={shape.num_nodes}", ""),
        (f"--ntasks-per-node={shape.num_tasks_per_node}", task),
        (f"--cpus-per-task={num_cpus}", cpus),
        *((option, partition.gpu) for option in gpu_options(partition, shape.num_tasks_per_node)),
        (f"--time={hours:02d}:{minutes:02d}:00", "the time limit: h:m:s"),
    ]
    if launch.signal:
        asked += [
            (f"--signal=B:{launch.signal}@{SAVE_AHEAD_S}", "seconds before the limit: save the work"),
            ("--requeue", "when a node fails, the job starts again"),
            ("--open-mode=append", "and continues the same log"),
        ]
    else:
        asked.append(("--no-requeue", "the job does not start again by itself"))
    lines = [(f"#SBATCH {option}", why) for option, why in asked if option]
    return [f"{line:<{WORDS_COLUMN}} # {why}" if why else line for line, why in lines]
