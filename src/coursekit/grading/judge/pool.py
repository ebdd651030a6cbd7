"""Judge many submissions at once, with one worker per slot on separate cores; nothing is lost if a worker dies."""

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
NUM_TRIES = 2  # if the worker dies, because the first death may be the machine's fault


@dataclass(frozen=True)
class PoolSettings:
    """The number of submissions that are judged at the same time, and the limits on each."""

    num_slots: int = 1
    limits: SubmissionLimits = field(default_factory=SubmissionLimits)


def default_num_slots(limits: SubmissionLimits | None = None) -> int:
    """Return how many submissions to judge at once: one for each core of this process, but no more than fit in memory.

    Limits of a container or a Slurm job on CPU time and memory are taken into account; the result is at least one.
    Example: 16 cores and 64 GB allow 8 submissions of at most 6 GB each, plus 2 GB each for the grader's processes.
    """
    num_cores, memory_gb = _allowed()
    return max(1, int(min(num_cores, memory_gb / _each_gb(limits or SubmissionLimits()))))


def lack_of_memory(settings: PoolSettings) -> str:
    """Return a warning if the submissions judged at the same time may together need too much memory, else ''."""
    num_slots, (_, memory_gb) = settings.num_slots, _allowed()
    if math.isinf(memory_gb):  # no limit, so only the cores count: check one submission
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
    """Return how many cores and GB of memory this container or Slurm job has; infinite memory if there is no limit."""
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

    `sources` maps labs to notebooks with hidden tests; `left_out` maps students to the names of the judge's cells that
    are skipped. If the worker for a submission dies, the submission is tried again; if the second worker also dies, the
    verdict has a fault.
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

    If there is only one slot, or if there are more slots than cores, all sets are empty.
    """
    cores = sorted(os.sched_getaffinity(0))
    if not 1 < num_slots <= len(cores):
        return [[]] * num_slots
    return [cores[number::num_slots] for number in range(num_slots)]


def needed(submission: Submission) -> Submission:
    """Return a copy of a submission with only the parts that a worker needs.

    It has no pictures, which may take 80 MB, and none of nbgrader's files.
    """
    cells = replace(submission.cells, pictures={})
    return Submission(submission.student, submission.lab, cells=cells, key=submission.key)


class _Worker:
    """A worker process, which is started when there is something to judge, and started again after it has died."""

    def __init__(self, limits: SubmissionLimits, cores: Sequence[int], sources: Mapping[str, Path]) -> None:
        self._slot = limits, cores, sources
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Connection | None = None
        self._closed = False
        self._starting = threading.Lock()

    def judge(self, submission: Submission, left_out: Collection[str]) -> Verdict:
        """Return the verdict on one submission, without the judge's cells named in `left_out`."""
        for _ in range(NUM_TRIES):
            try:
                channel = self._started()
                if channel is None:
                    break
                channel.send((needed(submission), left_out))
                verdict: Verdict = channel.recv()
            except (EOFError, OSError):  # the worker has ended, or is being closed
                status = self._process and self._process.poll()
                LOGGER.warning("%s %s: its worker died (status %s)", submission.student, submission.lab, status)
                self._end()
            else:
                return verdict
        fault = "the worker that judged it died"
        return Verdict(submission.lab, submission.student, (), fault=fault, key=submission.key)

    def _started(self) -> Connection | None:
        """Return the channel to the worker, which is started if needed; None after `close`.

        After `close`, nobody would end a new worker.
        """
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
        processes.end_all(below)  # the kernel would also end them, but later

    def close(self) -> None:
        """End the worker, whatever it is doing."""
        with self._starting:
            self._closed = True
        self._end()
