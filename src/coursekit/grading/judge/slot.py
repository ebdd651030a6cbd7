"""One place where submissions run, one after the other: a sandbox with a zygote in it, used again and again."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from coursekit import processes
from coursekit.errors import CourseKitError
from coursekit.grading.inside import wire
from coursekit.grading.isolation.sandbox import HIDDEN, View, command, hidden_folders, python_folders
from coursekit.grading.isolation.watcher import Watcher
from coursekit.grading.judge.running import Fault, Running, find_zygote, receive
from coursekit.imagenet import find_data
from coursekit.paths import PACKAGE
from coursekit.ranks.own_time import Deadline, OwnTime, TooSlowError, tree
from coursekit.text import counted, printable

LOGGER = logging.getLogger(__name__)
PROGRAM = "import sys; sys.path.insert(0, {folder!r}); from coursekit.grading.inside.zygote import main; main()"
START_TIMEOUT_S = 300.0  # of the sandbox's own time
OWN_MEMORY_GB = 2.0  # of the kit's processes in a slot, which have TensorFlow imported
GRACE_S = 30.0  # the judge keeps the limit itself; then the watcher does
# Of the kit only these are seen, beside the `__init__.py` of their packages. The contract "What a
# sandbox shows does not know what is right" in pyproject.toml names the same.
MODULES = (
    "coursekit.drivers",
    "coursekit.errors",
    "coursekit.estimator",
    "coursekit.files",
    "coursekit.grading.inside",
    "coursekit.grading.isolation",
    "coursekit.imagenet",
    "coursekit.intervals",
    "coursekit.mime_types",
    "coursekit.paths",
    "coursekit.pictures",
    "coursekit.processes",
    "coursekit.quiz",
    "coursekit.ranks",
    "coursekit.scaling",
    "coursekit.text",
    "coursekit.throughput",
    "coursekit.toml_files",
    "coursekit.way_out",
)
DATA = "/data"


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


class Slot:
    """A persistent sandbox that runs one submission at a time."""

    def __init__(self, limits: SubmissionLimits | None = None) -> None:
        self.limits = limits or SubmissionLimits()
        self._process: subprocess.Popen[bytes] | None = None
        self._judge: Connection | None = None
        self._log: IO[bytes] | None = None

    def __enter__(self) -> Slot:  # noqa: PYI034  # `Self` comes with Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def submission(self) -> Iterator[Running]:
        """Run one submission; on leaving, nothing of it is alive.

        Raises:
            Fault: the sandbox cannot be started, or broke down.
        """
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()
        if self._process is None or self._judge is None:
            raise Fault("the sandbox did not start")
        pid, own = self._process.pid, self.limits
        watcher = Watcher(
            pid,
            lambda: find_zygote(pid),
            memory_bytes=int((own.memory_gb + OWN_MEMORY_GB) * 2**30),
            num_processes=own.num_processes,
            num_files=own.num_files,
            own_s=own.notebook_s + GRACE_S,
        )
        with watcher as watch:
            running = Running(self._judge, pid, watch, own.notebook_s)
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
        if self._log:
            self._log.close()

    def _allowance(self) -> dict[str, Any]:
        """Return what `coursekit.grading.isolation.namespaces.Allowance` takes."""
        return {
            "tmp_bytes": int(self.limits.tmp_gb * 2**30),
            "num_files": self.limits.num_files,
            "max_num_processes": self.limits.num_threads,
            "max_file_bytes": int(self.limits.file_gb * 2**30),
            "max_memory_bytes": int(self.limits.memory_gb * 2**30),
            "max_cpu_s": int(self.limits.notebook_s),
            "in_sight": tuple(map(str, hidden_folders([PACKAGE, *python_folders()]))),
        }

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        argv = [sys.executable, "-I", "-c", PROGRAM.format(folder=str(PACKAGE.parent)), str(theirs.fileno())]
        view = submission_view(int(2 * self.limits.tmp_gb * 2**30))
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the slot
        with theirs:
            self._process = subprocess.Popen(
                command(view, argv),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                start_new_session=True,
            )
        self._judge = Connection(ours.detach())
        pid = self._process.pid
        failure = _first_words(self._judge, Deadline(START_TIMEOUT_S, OwnTime(lambda: tree(pid)).tick))
        if failure:
            said = self._last_words()
            self.close()
            raise CourseKitError(f"the sandbox did not start {failure}; it wrote: {said}.")
        LOGGER.info("sandbox %d started", pid)

    def _last_words(self) -> str:
        """Return the end of what the kit's own processes in the sandbox have written."""
        if self._log is None:
            return "nothing"
        self._log.seek(0)
        return printable(self._log.read().decode(errors="replace").strip()[-2000:]) or "nothing"


def _first_words(judge: Connection, deadline: Deadline) -> str:
    """Return why the sandbox did not start, or ''."""
    message = None
    try:
        message = receive(judge, deadline)
    except (EOFError, OSError, wire.NotPlainError):
        return "(it ended)"
    except TooSlowError:
        pass
    if message is None:
        busy = f"load {os.getloadavg()[0]:.0f} on {counted(len(os.sched_getaffinity(0)), 'core')}"
        return f"within {START_TIMEOUT_S:g} s ({busy}): grade with `--jobs 1`, or stop other programs"
    return f"({message['failure']})" if message["failure"] else ""


def shown_files() -> set[Path]:
    """Return the files and folders of the kit that are seen."""
    modules = [PACKAGE.parent.joinpath(*module.split(".")) for module in MODULES]
    packages = {parent for path in modules for parent in path.parents if parent.is_relative_to(PACKAGE)}
    shown = {path if path.is_dir() else path.with_suffix(".py") for path in modules}
    return shown | {package / "__init__.py" for package in packages}


def submission_view(tmp_bytes: int) -> View:
    """Return what is seen, images too, which the first call makes."""
    seen = {str(path): path for path in sorted(shown_files())}
    environ = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": HIDDEN[0],
        "TMPDIR": HIDDEN[0],
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_ENABLE_ONEDNN_OPTS": "0",  # it rewrites graphs, which takes longer than these tiny ones save by it
        "CUDA_VISIBLE_DEVICES": "-1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return View({**seen, DATA: find_data().parent}, {**environ, "COURSEKIT_DATA": DATA}, tmp_bytes)
