"""Judge many submissions at once: each slot has a worker on separate cores, and nothing is lost if a worker dies."""

from __future__ import annotations

import logging
import math
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Collection, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType

import psutil

from coursekit import processes
from coursekit.grading.isolation import cgroups
from coursekit.grading.judge.slot import OWN_MEMORY_GB, SubmissionLimits
from coursekit.grading.submission.student_folder import Submission
from coursekit.grading.verdict import Verdict
from coursekit.text import counted

LOGGER = logging.getLogger(__name__)
MIB_PER_GB = 1024
NUM_TRIES = 2  # for a submission whose worker dies: the first death may be the machine's fault


@dataclass(frozen=True)
class PoolSettings:
    """How many submissions are judged at once, and how much each may use."""

    num_slots: int = 1
    limits: SubmissionLimits = field(default_factory=SubmissionLimits)


def default_num_slots(limits: SubmissionLimits | None = None) -> int:
    """Return how many submissions to judge at once: one for each core of this process, but no more than memory allows.

    It takes a container's or a Slurm job's limits on CPU time and memory into account; the result is at least one.
    Example: 16 cores and 64 GB allow 8 submissions of at most 6 GB each, plus 2 GB each for the grader's processes.
    """
    num_cores, memory_gb = _allowed()
    return max(1, int(min(num_cores, memory_gb / _each_gb(limits or SubmissionLimits()))))


def lack_of_memory(settings: PoolSettings) -> str:
    """Return a warning if the submissions that are judged at once may need more memory than there is, else ''."""
    num_slots, (_, memory_gb) = settings.num_slots, _allowed()
    if math.isinf(memory_gb):  # without a limit, only the cores decide: check that a single submission fits
        num_slots, memory_gb = 1, psutil.virtual_memory().total / 2**30
    wanted_gb = num_slots * _each_gb(settings.limits)
    if wanted_gb <= memory_gb:
        return ""
    return (
        f"{counted(num_slots, 'hand-in')} at a time may use {wanted_gb:.1f} GB of memory, and the grader has "
        f"{memory_gb:.1f} GB: a hand-in that runs out of memory loses no points and needs another run; "
        "to avoid that, give the container or job more memory, or lower --jobs or --memory-gb."
    )


def _each_gb(limits: SubmissionLimits) -> float:
    return limits.memory_gb + OWN_MEMORY_GB


def _allowed() -> tuple[float, float]:
    """Return how many cores and GB of memory this container or Slurm job has; memory is infinite without a limit."""
    num_cores = min(len(os.sched_getaffinity(0)), cgroups.num_cores())
    memory_gb, environ = cgroups.memory_bytes() / 2**30, os.environ
    if "SLURM_JOB_ID" in environ:  # the kernel may not enforce Slurm's limits
        num_cores = min(num_cores, int(environ.get("SLURM_CPUS_PER_TASK", num_cores)))
        job_mb = int(environ.get("SLURM_MEM_PER_NODE", int(environ.get("SLURM_MEM_PER_CPU", 0)) * num_cores))
        node_gb = psutil.virtual_memory().available / 2**30
        memory_gb = min(memory_gb, job_mb / MIB_PER_GB or node_gb, node_gb)
    return num_cores, memory_gb


def judge_all(
    submissions: Sequence[Submission],
    sources: Mapping[str, Path],
    settings: PoolSettings,
    left_out: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Generator[Verdict, None, None]:
    """Judge submissions, and yield each verdict as soon as it is ready; closing the iterator ends all workers.

    `sources` maps labs to notebooks with hidden tests; `left_out` maps students to the judge's cells that are skipped.
    A submission whose worker dies is tried again; if the second worker dies, too, the verdict has a fault.
    """
    num_slots = min(settings.num_slots, len(submissions) or 1)
    workers = [_Worker(settings.limits, cores, sources) for cores in shares(num_slots)]
    idle: SimpleQueue[_Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def judge(submission: Submission) -> Verdict:
        worker = idle.get()
        try:
            return worker.judge(submission, left_out.get(submission.student, ()))
        finally:
            idle.put(worker)

    executor = ThreadPoolExecutor(len(workers))
    try:
        for done in as_completed([executor.submit(judge, submission) for submission in submissions]):
            yield done.result()
    finally:
        for worker in workers:
            worker.close()
        executor.shutdown(cancel_futures=True)


def shares(num_slots: int) -> list[list[int]]:
    """Return disjoint sets of this process's cores, one for each slot; an empty set means no restriction.

    All sets are empty if there are more slots than cores, or only one slot.
    """
    cores = sorted(os.sched_getaffinity(0))
    if not 1 < num_slots <= len(cores):
        return [[]] * num_slots
    return [cores[number::num_slots] for number in range(num_slots)]


def needed(submission: Submission) -> Submission:
    """Return what a worker needs of a submission: no pictures, which may take 80 MB, and no nbgrader files."""
    cells = replace(submission.cells, pictures={})
    return Submission(submission.student, submission.lab, cells=cells, key=submission.key)


class _Worker:
    """A worker process; it starts when there is something to do, and again after it has died."""

    def __init__(self, limits: SubmissionLimits, cores: Sequence[int], sources: Mapping[str, Path]) -> None:
        self._slot = limits, cores, sources
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Connection | None = None
        self._closed = False
        self._starting = threading.Lock()

    def judge(self, submission: Submission, left_out: Collection[str]) -> Verdict:
        """Return the verdict on one submission."""
        for _ in range(NUM_TRIES):
            try:
                channel = self._started()
                if channel is None:
                    break
                channel.send((needed(submission), left_out))
                verdict: Verdict = channel.recv()
            except (EOFError, OSError):  # it has ended, or we are closing
                status = self._process and self._process.poll()
                LOGGER.warning("%s %s: its worker died (status %s)", submission.student, submission.lab, status)
                self._end()
            else:
                return verdict
        fault = "the worker that judged it died"
        return Verdict(submission.lab, submission.student, (), fault=fault, key=submission.key)

    def _started(self) -> Connection | None:
        """Return the channel to the worker; None once it is closed, because nobody would end a worker started then."""
        with self._starting:
            if self._closed:
                return None
            if self._process is None:
                ours, theirs = socket.socketpair()
                with theirs:
                    self._process = subprocess.Popen(
                        [sys.executable, "-m", "coursekit.grading.judge.pool_worker", str(theirs.fileno())],
                        pass_fds=[theirs.fileno()],
                        stdin=subprocess.DEVNULL,
                        start_new_session=True,
                    )
                self._channel = Connection(ours.detach())
                self._channel.send(self._slot)
            return self._channel

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        below = processes.below(process.pid)
        process.kill()
        process.wait()
        processes.end_all(below)  # the kernel would end them with their parent, but later

    def close(self) -> None:
        """End the worker, whatever it is doing."""
        with self._starting:
            self._closed = True
        self._end()
