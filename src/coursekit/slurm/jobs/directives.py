"""The `#SBATCH` lines of a job script: what is asked for, and why, in the order in which one reads it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from coursekit import toml_files
from coursekit.slurm.sites.profile import GPU_REQUESTS
from coursekit.toml_files import MAY_BE_EMPTY

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.slurm.sites.profile import Partition

MINUTES_PER_HOUR = 60
WHY = {  # words on options that sites add
    "--constraint": "only nodes with this feature",
    "--hint": "one rank's threads on whole cores",
    "--ntasks-per-core": "one task on a core, not on half of one",
    "--exclusive": "whole nodes, shared with nobody",
}
GRADING_GB = 8  # memory that a task of grading needs at least: what one hand-in may use, with what runs it
SAVE_AHEAD_S = 120  # how long before the time limit a job is told to save what it has


@dataclass(frozen=True)
class Directive:
    """One option of `sbatch`, and a word on it for the reader."""

    option: str
    why: str = ""


@dataclass(frozen=True)
class Event:
    """What changes with the workshop, and neither with the machine nor with the lesson; '' leaves a directive out.

    Committed job scripts have none of them: `SBATCH_ACCOUNT`, `SBATCH_RESERVATION` and `SBATCH_QOS` do the same.
    """

    account: Annotated[str, MAY_BE_EMPTY] = ""
    reservation: Annotated[str, MAY_BE_EMPTY] = ""
    qos: Annotated[str, MAY_BE_EMPTY] = ""


NO_EVENT = Event()


def load_event(path: Path) -> Event:
    """Read an event's file, strictly."""
    return toml_files.load(Event, path)


@dataclass(frozen=True)
class JobShape:
    """How much of a partition a job asks for; a task is one rank."""

    num_nodes: int
    num_tasks_per_node: int

    @property
    def num_ranks(self) -> int:
        """The world size when every task is one rank."""
        return self.num_nodes * self.num_tasks_per_node


WORDS_OF_RANKS = ("one task per rank, one rank per GPU", "a rank's share of the node")
WORDS_OF_GRADING = ("one task", "as many hand-ins at a time, if memory is enough")
STARTS_AGAIN = (
    Directive("--requeue", "when a node fails, the job starts again"),
    Directive("--open-mode=append", "and goes on with the same log"),
)
AS_ANOTHER_JOB = (Directive("--no-requeue", "what a lost task has not judged is submitted as another job"),)
NOT_AGAIN = (Directive("--no-requeue", "whoever wants it again starts it again"),)
JUPYTER_MIN = GRADE_MIN = 60


@dataclass(frozen=True)
class LaunchPattern:
    """What the job scripts of one template have in common.

    Attributes:
        suffix: what stands behind the lab's name in that of the job.
        signal: what the script hears ahead of its time limit; '' for nothing.
        after_failure: what Slurm does when a node fails.
        time_limit_min: the time limit; 0 for that of the lab, or of all labs together.
        num_ranks: how many ranks a committed script asks for; 0 for all of as many nodes as the site's profile says,
            and for a lab's notebook as many as show what the lab is about.
        is_grading: whether it is the array that judges hand-ins, each task on the smallest share of a node.
        each: for whom or what one such job is: a student, a run, a task.
    """

    suffix: str = ""
    signal: str = "TERM"
    after_failure: tuple[Directive, ...] = STARTS_AGAIN
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
    # Whoever follows the grading submits again what a lost task leaves undone.
    "grade": LaunchPattern(
        after_failure=AS_ANOTHER_JOB, time_limit_min=GRADE_MIN, num_ranks=1, is_grading=True, each="task of the array"
    ),
    # A signal would end a hub's server, and its student would not know why.
    "hub": LaunchPattern(signal="", after_failure=NOT_AGAIN),
}


def directives(  # noqa: PLR0913, PLR0917  # all that a job asks for
    job_name: str, launch: LaunchPattern, partition: Partition, shape: JobShape, time_limit_min: int, event: Event
) -> tuple[Directive, ...]:
    """Return the directives of a job."""
    task, cpus = WORDS_OF_GRADING if launch.is_grading else WORDS_OF_RANKS
    num_cpus = num_cpus_of_grading(partition) if launch.is_grading else partition.num_cpus_per_gpu
    named = Directive(f"--partition={partition.slurm_name}", "the kind of nodes")
    ahead = Directive(f"--signal=B:{launch.signal}@{SAVE_AHEAD_S}", "seconds before the limit: save what is there")
    return (
        Directive(f"--job-name={job_name}"),
        Directive("--output=%x-%j.out", "what is printed: %x is the job's name, %j its number"),
        *([named] if partition.requested else []),
        *(Directive(line, WHY.get(line.partition("=")[0], "")) for line in partition.directives),
        *_of_event(partition, event),
        Directive(f"--nodes={shape.num_nodes}"),
        Directive(f"--ntasks-per-node={shape.num_tasks_per_node}", task),
        Directive(f"--cpus-per-task={num_cpus}", cpus),
        *(Directive(option, partition.gpu) for option in gpu_options(partition, shape)),
        Directive(f"--time={_clock(time_limit_min)}", "the time limit: h:m:s"),
        *([ahead] if launch.signal else []),
        *launch.after_failure,
    )


def num_cpus_of_grading(partition: Partition) -> int:
    """Return the cores of a task that judges hand-ins: a GPU's share of the node, or what brings enough memory."""
    enough = math.ceil(GRADING_GB * partition.num_cpus_per_node / partition.memory_gb)
    return min(partition.num_cpus_per_node, max(partition.num_cpus_per_gpu, enough))


def _of_event(partition: Partition, event: Event) -> list[Directive]:
    qos = event.qos or (partition.qos[0] if partition.qos else "")
    return [
        *([Directive(f"--account={event.account}{partition.account_suffix}")] if event.account else []),
        *([Directive(f"--reservation={event.reservation}")] if event.reservation else []),
        *([Directive(f"--qos={qos}", "limits of time and size")] if qos else []),
    ]


def gpu_options(partition: Partition, shape: JobShape) -> list[str]:
    """Return the option that asks for a GPU for each rank; none where GPUs come with the node."""
    option = GPU_REQUESTS[partition.gpu_request].format(shape.num_tasks_per_node)
    return [option] if option else []


def _clock(time_min: int) -> str:
    return f"{time_min // MINUTES_PER_HOUR:02d}:{time_min % MINUTES_PER_HOUR:02d}:00"
