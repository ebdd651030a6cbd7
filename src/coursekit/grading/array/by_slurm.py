"""Many submissions as a Slurm job array: written down in batches, submitted, and their verdicts read as they come.

This process is the only one that hands verdicts on; tasks of the array only add lines to files of their own.
What a task leaves undone, because its node went down, its time was over or it was preempted, is submitted again.
Killed at any moment, a later call takes what the tasks have written meanwhile, and goes on with those that still run.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.grading.array.job_array import JobArray, TaskPoller, batch_size, cancel, why_lost
from coursekit.grading.array.round_folder import Round, open_round, write_round
from coursekit.slurm.jobs.slurm_cli import SlurmError
from coursekit.slurm.jobs.states import UNKNOWN, look

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from coursekit.grading.judge.pool import PoolSettings
    from coursekit.grading.submission.work import Submission
    from coursekit.grading.verdict import Verdict
    from coursekit.slurm.jobs.states import JobState

NUM_TRIES = 3  # a task may be lost through no fault of what it judged, but not every time
READ_S = 1.0  # between looks at the files
KEEP_S = 7 * 86400.0  # how long verdicts stay that nobody asks for any more


def judge_by_slurm(
    submissions: Sequence[Submission], settings: PoolSettings, array: JobArray, *, again: bool = False
) -> Generator[Verdict, None, None]:
    """Judge submissions on a site's nodes, and yield each verdict when it is there.

    Closing the iterator, or Ctrl-C, cancels the array.
    Each submission has a key of its own; one whose task is lost is submitted again, then gets a verdict with a fault.
    `num_slots` 0 of the settings stands for as many as a task has cores and memory for.
    With `again`, what an earlier call, killed since, has left verdicts on is judged, too.

    Raises:
        CourseKitError: Slurm refuses, or was out of reach for too long; tasks that run then go on.
    """
    grading = _Grading({one.key: one for one in submissions}, settings, array)
    try:
        if not again:
            yield from grading.left_over()
        yield from grading.rest()
        grading.tidy()
    except CourseKitError:
        raise
    except BaseException:
        with suppress(SlurmError):
            cancel(grading.array_ids())
        raise


@dataclass
class _Task:
    """A task that was submitted: its round, the keys that it judges, how it ended, and when that was seen."""

    round: Round
    keys: tuple[str, ...]
    ending: JobState | None = None
    ended_s: float = 0.0


@dataclass
class _Grading:
    """One call: what is missing, and where it may come from."""

    missing: dict[str, Submission]
    settings: PoolSettings
    array: JobArray
    rounds: list[Round] = field(default_factory=list)
    tasks: dict[str, _Task] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # keys of verdicts
    num_tries: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.poller = TaskPoller(self.array.tell)

    def left_over(self) -> Iterator[Verdict]:
        """Yield the verdicts that an earlier call has not read, and take up its tasks that wait or run."""
        for folder in sorted(self.array.folder.glob("round-*")):
            with suppress(FileNotFoundError):  # another call has just removed it
                one = open_round(folder)
                if one and self.missing.keys() & one.keys:
                    self.rounds.append(one)
                elif time.time() - folder.stat().st_mtime > KEEP_S:
                    (one or Round(folder, ())).remove()
        found = {task_id: task for one in self.rounds for task_id, task in _tasks_of(one).items()}
        # First the states, then the files: what a task has written before its end is then there.
        states = look(found) if found else {}
        for one in self.rounds:
            yield from self.new(verdict for verdict in one.new_verdicts() if not verdict.fault)
        for task_id, state in states.items():
            task = found[task_id]
            # Numbers begin again after a new installation: the script's own words tell whether this is the one.
            goes_on = not state.ended and task.round.folder.name in state.command
            if goes_on and self.missing.keys() & set(task.keys):
                self.tasks[task_id] = task
        if self.tasks:
            self.array.tell(f"Job {', '.join(self.array_ids())} of an earlier call goes on.")

    def rest(self) -> Iterator[Verdict]:
        """Submit what no task judges yet, and yield verdicts until none is missing."""
        judged = {key for task in self.tasks.values() for key in task.keys}
        self.submit([one for key, one in self.missing.items() if key not in judged])
        while self.missing:
            for one in self.rounds:
                yield from self.new(one.new_verdicts())
            self._note_endings()
            again: list[Submission] = []
            for task_id in self._over():
                task = self.tasks.pop(task_id)
                yield from self.new(task.round.all_verdicts())
                lost = [self.missing[key] for key in task.keys if key in self.missing]
                why = why_lost(task.round, task_id, task.ending) if task.ending and lost else ""
                for submission in lost:
                    if self.num_tries[submission.key] < NUM_TRIES:
                        again.append(submission)
                    else:
                        del self.missing[submission.key]
                        yield submission.not_judged(f"it was submitted {NUM_TRIES} times and never judged: {why}")
                if why:
                    self.array.tell(f"{why} Not judged there: {len(lost)}.")
            self.submit(again)
            if self.missing:
                time.sleep(READ_S)

    def submit(self, submissions: Sequence[Submission]) -> None:
        """Submit what is to be judged as an array of its own."""
        if not submissions:
            return
        num_at_a_time = self.settings.num_slots or self.array.num_slots(self.settings.limits)
        size = batch_size(len(submissions), self.array.num_tasks, num_at_a_time)
        one = write_round(self.array.folder, submissions, self.settings, size)
        try:
            self.array.submit(one, num_at_a_time)
        except BaseException:
            one.remove()
            raise
        self.rounds.append(one)
        self.tasks.update(_tasks_of(one))
        self.num_tries.update(submission.key for submission in submissions)
        self.poller.ask_soon()

    def new(self, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        """Yield the verdicts that were missing until now."""
        for verdict in verdicts:
            self.seen.add(verdict.key)
            if self.missing.pop(verdict.key, None):
                yield verdict

    def array_ids(self) -> list[str]:
        """Return Slurm's numbers of the arrays that have tasks which wait or run."""
        return sorted({task.round.array_id for task in self.tasks.values() if not task.ending})

    def tidy(self) -> None:
        """Remove the rounds whose verdicts were all seen; others stay, for another call or for who seeks a cause."""
        for one in self.rounds:
            if one.keys <= self.seen:
                one.remove()

    def _note_endings(self) -> None:
        going_on = [task_id for task_id, task in self.tasks.items() if not task.ending]
        for task_id, state in self.poller.states(going_on).items():
            if state.ended or state.state == UNKNOWN:
                self.tasks[task_id].ending, self.tasks[task_id].ended_s = state, time.monotonic()

    def _over(self) -> list[str]:
        """Return the tasks from which nothing more will come: they ended, and what they wrote had time to appear."""
        latest = time.monotonic() - self.array.late_s
        return [
            task_id
            for task_id, task in self.tasks.items()
            if task.ending and (task.ended_s <= latest or not self.missing.keys() & set(task.keys))
        ]


def _tasks_of(one: Round) -> dict[str, _Task]:
    """Return a round's tasks by Slurm's numbers of them; none if it was never submitted."""
    array_id = one.array_id
    return {f"{array_id}_{number}": _Task(one, keys) for number, keys in enumerate(one.batches)} if array_id else {}
