"""Many submissions at once: a worker for each slot, on cores of its own, and nothing lost when one dies."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import IO

import psutil

from coursekit import processes
from coursekit.grading.judge.slot import OWN_MEMORY_GB, SubmissionLimits
from coursekit.grading.submission.work import Submission
from coursekit.grading.verdict import Verdict

LOGGER = logging.getLogger(__name__)
END_TIMEOUT_S = 5.0
MIB_PER_GB = 1024
NUM_TRIES = 2  # of a submission whose worker dies: the first death may be the machine's fault
# A socket without a file: the kernel lets one process of any account have the name at a time, and takes it back
# when that process ends, however it does. Nobody listens on it.
NAME = "\0coursekit-grader-core-{}"


@dataclass(frozen=True)
class PoolSettings:
    """How to judge.

    Attributes:
        num_slots: how many submissions at once.
        sandbox: one of `coursekit.grading.isolation.sandbox.SANDBOXES`.
        image: the container image, for Apptainer.
        limits: of each submission.
    """

    num_slots: int = 1
    sandbox: str = "bwrap"
    image: Path | None = None
    limits: SubmissionLimits = field(default_factory=SubmissionLimits)


def default_num_slots(limits: SubmissionLimits | None = None) -> int:
    """Return how many submissions to judge at once: one on each core of this process.

    In a Slurm job no more than its memory is enough for; the kernel may not hold it to what Slurm has given it.
    Example: 16 cores and 64 GB are 8 submissions of at most 6 GB each, with 2 GB for what judges it.
    """
    num_cores, environ = len(os.sched_getaffinity(0)), os.environ
    if "SLURM_JOB_ID" not in environ:
        return num_cores
    num_cores = min(num_cores, int(environ.get("SLURM_CPUS_PER_TASK", num_cores)))
    per_core_mb = int(environ.get("SLURM_MEM_PER_CPU", 0))
    node_gb = psutil.virtual_memory().available / 2**30
    memory_gb = int(environ.get("SLURM_MEM_PER_NODE", per_core_mb * num_cores)) / MIB_PER_GB or node_gb
    each_gb = (limits or SubmissionLimits()).memory_gb + OWN_MEMORY_GB
    return max(1, min(num_cores, int(min(memory_gb, node_gb) / each_gb)))


def judge_all(submissions: Sequence[Submission], settings: PoolSettings) -> Generator[Verdict, None, None]:
    """Judge submissions, and yield each verdict when it is there; closing the iterator ends all workers.

    A submission whose worker dies is tried again, then gets a verdict with a fault.
    """
    idle: SimpleQueue[_Worker] = SimpleQueue()

    def judge(submission: Submission) -> Verdict:
        worker = idle.get()
        try:
            return worker.judge(submission)
        finally:
            idle.put(worker)

    with own_cores(min(settings.num_slots, len(submissions) or 1)) as shares:
        workers = [_Worker(settings, cores) for cores in shares]
        for worker in workers:
            idle.put(worker)
        executor = ThreadPoolExecutor(len(workers))
        try:
            for done in as_completed([executor.submit(judge, submission) for submission in submissions]):
                yield done.result()
        finally:
            for worker in workers:
                worker.close()
            executor.shutdown(cancel_futures=True)


@contextmanager
def own_cores(num_slots: int) -> Iterator[list[tuple[int, ...]]]:
    """Yield disjoint sets of this process's cores, one for each slot, which no other grader gets meanwhile.

    Where too few are left, the sets are empty, which stands for all cores: the kernel then finds those that idle.
    A single slot keeps to no cores either.
    """
    with ExitStack() as held:
        cores = sorted(os.sched_getaffinity(0)) if num_slots > 1 else []
        free = [core for core in cores if _hold(core, held)]
        if len(free) < num_slots:
            held.close()
            free = []
        yield [tuple(free[number::num_slots]) for number in range(num_slots)]


def _hold(core: int, held: ExitStack) -> bool:
    holder = socket.socket(socket.AF_UNIX)
    try:
        holder.bind(NAME.format(core))
    except OSError:
        holder.close()
        return False
    held.enter_context(holder)
    return True


class _Worker:
    """A worker's process, started when there is something to do, and again when it has died."""

    def __init__(self, settings: PoolSettings, cores: Sequence[int]) -> None:
        image = str(settings.image) if settings.image else None
        slot = {"sandbox": settings.sandbox, "cores": cores, "image": image, "limits": asdict(settings.limits)}
        self._settings = json.dumps(slot)
        self._process: subprocess.Popen[str] | None = None
        self._verdicts: IO[str] | None = None
        self._closed = False
        self._starting = threading.Lock()

    def judge(self, submission: Submission) -> Verdict:
        """Return the verdict on one submission."""
        line = submission.dumps()
        for _ in range(NUM_TRIES):
            if self._closed:
                break
            told = self._ask(line)
            if told:
                return Verdict.loads(told)
            status = self._process and self._process.poll()
            LOGGER.warning("%s %s: its worker died (status %s)", submission.work.student, submission.work.lab, status)
            self._end()
        return submission.not_judged("the worker that judged it died")

    def _ask(self, line: str) -> str:
        """Return what the worker writes, '' when it has died."""
        if self._process is None:
            self._start()
        if self._process is None or self._process.stdin is None or self._verdicts is None:
            return ""
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
            return self._verdicts.readline()
        except (OSError, ValueError):  # it is gone, or we are closing
            return ""

    def _start(self) -> None:
        with self._starting:
            if self._closed:  # a worker that starts while all are closed would judge on, unseen
                return
            read, write = os.pipe()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "coursekit.grading.judge.grade_one", self._settings, str(write)],
                stdin=subprocess.PIPE,
                pass_fds=[write],
                text=True,
                start_new_session=True,
            )
            os.close(write)
            self._verdicts = os.fdopen(read)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        below = processes.below(process.pid)
        process.kill()
        process.wait()
        for one in below:  # what the kernel ends with its parent, but later
            with suppress(psutil.Error):
                one.kill()
        psutil.wait_procs(below, timeout=END_TIMEOUT_S)
        for stream in (process.stdin, self._verdicts):
            if stream:
                with suppress(OSError):  # what a dead worker has not read is lost with it
                    stream.close()

    def close(self) -> None:
        """End the worker, whatever it does."""
        with self._starting:
            self._closed = True
        self._end()
