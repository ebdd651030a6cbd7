"""One place where submissions run, one after the other: a sandbox with a zygote in it, used again and again."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from coursekit import processes
from coursekit.errors import CourseKitError
from coursekit.grading.inside import wire
from coursekit.grading.isolation import watcher
from coursekit.grading.isolation.cgroups import Cgroup, cgroup
from coursekit.grading.isolation.sandbox import command, hidden_folders, python_folders
from coursekit.grading.judge.running import Fault, Running, find_zygote, receive
from coursekit.grading.judge.view import submission_view
from coursekit.paths import PACKAGE
from coursekit.ranks.own_time import Deadline, OwnTime, TooSlowError, tree
from coursekit.text import counted, printable

LOGGER = logging.getLogger(__name__)
PROGRAM = "import sys; sys.path.insert(0, {folder!r}); from coursekit.grading.inside.zygote import main; main()"
START_TIMEOUT_S = 300.0  # of the sandbox's own time
OWN_MEMORY_GB = 2.0  # of the kit's processes in a slot, which have TensorFlow imported
SPARE_MEMORY_GB = 0.5
NUM_TASKS = 4096  # processes and threads of a slot
GRACE_S = 30.0  # the judge keeps the limit itself; then the watcher does


@dataclass(frozen=True)
class SubmissionLimits:
    """What one submission may use; seconds are of its own time, so that no busy machine makes them fewer.

    Attributes:
        memory_gb: of all its processes together.
        num_processes: at once.
        num_threads: of one process with its descendants.
        tmp_gb: size of the folders in memory.
        file_gb: size of one file.
        num_files: in each folder in memory.
    """

    notebook_s: float = 600.0
    cell_s: float = 60.0
    memory_gb: float = 6.0
    num_processes: int = 128
    num_threads: int = 1024
    tmp_gb: float = 0.5
    file_gb: float = 0.25
    num_files: int = 20_000


@dataclass
class Slot:
    """A persistent sandbox that runs one submission at a time.

    Attributes:
        sandbox: one of `coursekit.grading.isolation.sandbox.SANDBOXES`.
        cores: the cores that it keeps to; all when empty.
        image: the container image, for Apptainer.
    """

    sandbox: str = "bwrap"
    limits: SubmissionLimits = field(default_factory=SubmissionLimits)
    cores: Sequence[int] = ()
    image: Path | None = None
    _process: subprocess.Popen[bytes] | None = None
    _judge: Connection | None = None
    _has_tensorflow: bool = False
    _group: Cgroup | None = None
    _log: IO[bytes] | None = None
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Slot:  # noqa: PYI034  # `Self` comes with Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def submission(self, *, needs_tensorflow: bool = True) -> Iterator[Running]:
        """Run one submission, with TensorFlow imported ahead of all that need it; on leaving, nothing of it is alive.

        Raises:
            Fault: the sandbox cannot be started, or broke down.
        """
        if self._process is None or self._process.poll() is not None or (needs_tensorflow and not self._has_tensorflow):
            self.close()
            self._has_tensorflow = needs_tensorflow
            self._start()
        if self._process is None or self._judge is None:
            raise Fault("the sandbox did not start")
        pid = self._process.pid
        limits = watcher.Limits(
            int((self.limits.memory_gb + OWN_MEMORY_GB) * 2**30),
            self.limits.num_processes,
            self.limits.num_files,
            self.limits.notebook_s + GRACE_S,
        )
        with watcher.Watcher(pid, limits, lambda: find_zygote(pid)) as watch:
            running = Running(self._judge, pid, watch, self._group, self.limits.notebook_s)
            try:
                running.send(self._allowance())
                yield running
            finally:
                if not running.end():
                    self.close()

    def close(self) -> None:
        """End the sandbox and all that is in it; safe to call twice."""
        process, self._process = self._process, None
        judge, self._judge = self._judge, None
        if judge:
            judge.close()
        if process:
            processes.kill_below(process.pid)
            process.kill()
            process.wait()
            LOGGER.info("sandbox %d ended with status %s: %s", process.pid, process.returncode, self._last_words())
        self._open.close()
        self._group = None

    def _allowance(self) -> dict[str, Any]:
        """Return what `coursekit.grading.isolation.allowance.Allowance` takes."""
        return {
            "tmp_bytes": int(self.limits.tmp_gb * 2**30),
            "num_files": self.limits.num_files,
            "max_num_processes": self.limits.num_threads,
            "max_file_bytes": int(self.limits.file_gb * 2**30),
            "max_memory_bytes": int(self.limits.memory_gb * 2**30),
            "max_cpu_s": int(self.limits.notebook_s),
            "isolated": self.sandbox != "none",
            "in_sight": tuple(map(str, hidden_folders([PACKAGE, *python_folders()]))),
        }

    def _start(self) -> None:
        # A sandbox has a home of its own; a folder here would stay when a worker is killed.
        folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="slot-")) if self.sandbox == "none" else ""
        # The watcher, which counts and then tells, should come before the kernel, which kills.
        memory_bytes = int((self.limits.memory_gb + OWN_MEMORY_GB + SPARE_MEMORY_GB) * 2**30)
        self._group = self._open.enter_context(cgroup(memory_bytes, NUM_TASKS))
        ours, theirs = socket.socketpair()
        line = self._command_line(folder, theirs.fileno())
        self._log = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # closed with the slot
        with theirs:
            self._process = subprocess.Popen(
                self._group.inside(line) if self._group else line,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                start_new_session=True,
                preexec_fn=self._keep_to_cores if self.cores else None,  # noqa: PLW1509  # no other thread runs yet
            )
        self._judge = Connection(ours.detach())
        try:
            failure = _first_words(self._judge, self._process.pid)
        except TooSlowError:
            self.close()
            raise CourseKitError(_too_slow()) from None
        if failure:
            said = self._last_words()
            self.close()
            raise CourseKitError(f"the sandbox did not start ({failure}): {said}.")
        LOGGER.info("sandbox %d (%s) started", self._process.pid, self.sandbox)

    def _last_words(self) -> str:
        """Return the end of what the kit's own processes in the sandbox have written."""
        if self._log is None:
            return "it wrote nothing"
        self._log.seek(0)
        return printable(self._log.read().decode(errors="replace").strip()[-2000:]) or "it wrote nothing"

    def _command_line(self, folder: str, channel: int) -> list[str]:
        argv = [sys.executable, "-I", "-c", PROGRAM.format(folder=str(PACKAGE.parent)), str(channel)]
        argv += ["tensorflow"] if self._has_tensorflow else []
        view = submission_view(folder, int(2 * self.limits.tmp_gb * 2**30), with_data=self._has_tensorflow)
        return command(self.sandbox, view, argv, image=self.image)

    def _keep_to_cores(self) -> None:
        os.sched_setaffinity(0, self.cores)


def _first_words(judge: Connection, pid: int) -> str:
    """Return why the sandbox did not start, or ''.

    Raises:
        TooSlowError: it said nothing in time.
    """
    try:
        message = receive(judge, Deadline(START_TIMEOUT_S, OwnTime(lambda: tree(pid)).tick))
    except (EOFError, OSError, wire.NotPlainError):
        return "it ended"
    if message is None:
        raise TooSlowError
    failure = str(message["failure"])
    return failure.strip().splitlines()[-1] if failure else ""


def _too_slow() -> str:
    """Return what to do about a sandbox that did not start in time, by what the machine has to do."""
    load, num_cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    late = f"the sandbox did not start within {START_TIMEOUT_S:g} s"
    if load > num_cores:
        return (
            f"{late}, since the machine is overloaded (load {load:.0f} on {counted(num_cores, 'core')}): "
            "grade one submission at a time with `--jobs 1`, or stop other programs."
        )
    return f"{late}, although the cores are not busy: check disk and memory, and grade with `--jobs 1`."
