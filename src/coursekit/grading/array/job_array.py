"""A job array that grades: submitted for a site, asked about, and cancelled."""

from __future__ import annotations

import math
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.grading.judge.pool import num_slots_for
from coursekit.slurm.jobs.directives import GRADE_MIN, NO_EVENT, load_event, num_cpus_of_grading
from coursekit.slurm.jobs.explain import explain, read_tail
from coursekit.slurm.jobs.follow import FIRST_PAUSE_S, LAST_PAUSE_S, LATE_S, PATIENCE_S
from coursekit.slurm.jobs.pending import explain_pending
from coursekit.slurm.jobs.refusals import explain_refusal
from coursekit.slurm.jobs.render import JOBS, SUFFIX, render_job
from coursekit.slurm.jobs.slurm_cli import SlurmError, call, job_environment
from coursekit.slurm.jobs.states import PENDING, look
from coursekit.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from coursekit.grading.array.round_folder import Round
    from coursekit.grading.judge.slot import SubmissionLimits
    from coursekit.slurm.jobs.states import JobState
    from coursekit.slurm.sites.profile import Partition, Site

SCRIPT = f"grade{SUFFIX}"
NUM_PER_SLOT = 10  # hand-ins of a task for each of its slots: minutes of work, beside a start of seconds
MIN_PER_HAND_IN = 3  # far more than one takes, for the time limit of big batches


@dataclass(frozen=True)
class JobArray:
    """Where and how to submit.

    Attributes:
        root: the course checkout.
        folder: of the rounds, on a file system that its nodes share.
        tell: takes a sentence for people.
        partition: a partition by its name in the site's file; '' for its default.
        num_tasks: how many tasks may run at a time.
        event: a file with account, reservation and QOS.
        late_s: how late what a node has written may appear here.
    """

    root: Path
    site: Site
    folder: Path
    tell: Callable[[str], None]
    partition: str = ""
    num_tasks: int = 4
    event: Path | None = None
    late_s: float = LATE_S

    def require(self) -> None:
        """Check that jobs can be submitted from here, as the options say.

        Raises:
            CourseKitError: they cannot; the message says what to do.
        """
        if self.partition or self.event:
            self._rendered()
        if shutil.which("sbatch") is None:
            raise CourseKitError(
                f"there is no sbatch here: grade on a login node of {self.site.title} ({self.site.access.login[0]}), "
                "or without --slurm."
            )

    def num_slots(self, limits: SubmissionLimits) -> int:
        """Return how many hand-ins a task judges at a time by default."""
        kind = self._kind()
        num_cpus = num_cpus_of_grading(kind)
        return num_slots_for(num_cpus, num_cpus * kind.memory_gb / kind.num_cpus_per_node, limits)

    def submit(self, this_round: Round, num_at_a_time: int) -> None:
        """Submit the array of a round, whose tasks judge that many hand-ins at a time.

        Raises:
            CourseKitError: Slurm refuses; the message says why and what to do.
        """
        folder, num_batches = this_round.folder, len(this_round.batches)
        script = self.root / JOBS / self.site.name / SCRIPT
        if self.partition or self.event:
            script = folder / SCRIPT
            write_file(script, self._rendered().encode())
        elif not script.is_file():
            raise CourseKitError(f"{script.relative_to(self.root)} is missing: make it with `coursekit build`.")
        words = [f"--array=0-{num_batches - 1}%{self.num_tasks}", f"--output={folder}/grade-%A_%a.out"]
        num_per_slot = math.ceil(max(map(len, this_round.batches)) / num_at_a_time)
        time_min = min(MIN_PER_HAND_IN * num_per_slot, self._kind().max_time_min)
        words += [f"--time={time_min}"] if time_min > GRADE_MIN else []
        try:
            line = ("sbatch", "--parsable", *words, str(script), str(folder))
            said = call(*line, folder=self.root, environ=job_environment())
        except SlurmError as error:
            if not error.words:
                raise
            key = self.partition or self.site.default_partition
            raise CourseKitError(explain_refusal(error.words, self.site, key)) from None
        this_round.submitted_as(said.strip().splitlines()[-1].partition(";")[0])
        num_jobs = counted(sum(map(len, this_round.batches)), "hand-in")
        self.tell(f"Job {this_round.array_id} is submitted: {num_jobs} in {counted(num_batches, 'task')}.")

    def _kind(self) -> Partition:
        return self.site.partitions[self.partition or self.site.default_partition]

    def _rendered(self) -> str:
        event = load_event(self.event) if self.event else NO_EVENT
        return render_job(self.root, self.site.name, "grade", partition=self.partition, event=event)


def batch_size(num_jobs: int, num_tasks: int, num_at_a_time: int) -> int:
    """Return how many hand-ins a task gets: minutes of work for it, something for every task that may run at a time.

    There are never more tasks than slots in all of them together: `num_at_a_time` in each.
    """
    at_most = min(NUM_PER_SLOT * num_at_a_time, math.ceil(num_jobs / num_tasks))
    return max(1, at_most, math.ceil(num_jobs / (num_tasks * num_at_a_time)))


def cancel(array_ids: Collection[str]) -> None:
    """Cancel arrays, with all of their tasks."""
    if array_ids:
        call("scancel", *array_ids)


def why_lost(this_round: Round, task_id: str, state: JobState) -> str:
    """Return what became of a task that left hand-ins without a verdict, in one line."""
    log = this_round.folder / f"grade-{task_id}.out"
    words = [explanation.words for explanation in explain(state, read_tail(log))[:1]]
    return " ".join([f"Slurm's task {task_id} ended as {state.state}.", *words, *([f"Its log: {log}."] * log.exists())])


class TaskPoller:
    """What Slurm says of tasks: asked for ever more rarely, and told while all tasks of an array wait."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told: dict[str, str] = {}
        self._answered = time.monotonic()
        self.ask_soon()

    def ask_soon(self) -> None:
        """Begin again with short pauses: something has changed."""
        self._pause_s = FIRST_PAUSE_S
        self._next_ask = time.monotonic() + self._pause_s

    def states(self, task_ids: Collection[str]) -> dict[str, JobState]:
        """Return the states of tasks, {} when it is too early to ask again.

        Raises:
            SlurmError: Slurm was out of reach for too long.
        """
        now = time.monotonic()
        if now < self._next_ask or not task_ids:
            return {}
        self._pause_s = min(self._pause_s * 1.5, LAST_PAUSE_S)
        self._next_ask = now + self._pause_s
        try:
            states = look(task_ids)
        except SlurmError as error:
            if now - self._answered > PATIENCE_S:
                raise
            self._say("", str(error), f"{error} Still trying.")
            return {}
        self._answered = now
        for array_id in sorted({task_id.partition("_")[0] for task_id in task_ids}):
            self._explain(array_id, [states[one] for one in task_ids if one.partition("_")[0] == array_id])
        return states

    def _explain(self, array_id: str, states: list[JobState]) -> None:
        """Tell why an array waits, and when it begins."""
        waiting = [state for state in states if state.state == PENDING]
        if len(waiting) == len(states):
            first = waiting[0]
            self._say(array_id, first.reason, explain_pending(array_id, first.reason, first.start))
        elif not all(state.ended for state in states):
            self._say(array_id, "runs", f"Job {array_id} runs." if array_id in self._told else "")

    def _say(self, about: str, what: str, sentence: str) -> None:
        if self._told.get(about) != what:
            self.ask_soon()  # one change is often followed by the next
            if sentence:
                self._tell(sentence)
        self._told[about] = what
