"""A slot is a sandbox with a zygote, which runs one submission after another."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

from coursekit import processes
from coursekit.corrected_time import Deadline, TooSlowError, start_up
from coursekit.errors import CourseKitError
from coursekit.framework import HOROVOD, VARIABLE
from coursekit.grading.inside import wire
from coursekit.grading.isolation.sandbox import HIDDEN, command, hidden_folders, python_folders
from coursekit.grading.isolation.watcher import Watcher
from coursekit.grading.judge.running import Running, find_zygote, receive
from coursekit.imagenet import find_data
from coursekit.paths import PACKAGE
from coursekit.ranks.horovod_build import CONTROLLER_VARIABLE, JOINS_NOBODY
from coursekit.ranks.mpi import mpirun
from coursekit.text import counted, printable

LOGGER = logging.getLogger(__name__)
PROGRAM = "import sys; sys.path.insert(0, {folder!r}); from coursekit.grading.inside.zygote import main; main()"
START_TIMEOUT_S = 300.0  # corrected time of the sandbox
OWN_MEMORY_GB = 2.0  # for the kit's processes in a slot, which have imported TensorFlow or PyTorch
GRACE_S = 30.0  # how much later than the judge the watcher enforces the limit
# Only these modules of the kit, and the `__init__.py` of their packages, are visible inside. The contract "What a
# sandbox shows does not know what is right" in pyproject.toml names the same modules.
MODULES = (
    *("corrected_time", "drivers", "environ", "errors", "estimator", "files", "framework", "grading.inside"),
    *("grading.isolation", "imagenet", "intervals", "paths", "pictures", "processes", "quiz", "ranks", "scaling"),
    *("text", "throughput", "toml_files", "tracebacks", "solution_snippet"),
)
DATA = "/data"
# From these variables, the MPI of a module or container learns where its files are, and the kit learns whether ranks
# use it to join.
OF_MPI = (CONTROLLER_VARIABLE, "LD_LIBRARY_PATH", "OPAL_PREFIX")


@dataclass(frozen=True)
class SubmissionLimits:
    """Limits on one submission; times are corrected time, so that a busy machine does not shorten them."""

    notebook_s: float = 600.0
    cell_s: float = 60.0
    memory_gb: float = 6.0  # for all processes of the submission together
    num_processes: int = 128  # at once
    num_threads: int = 1024  # in one process with its descendants
    tmp_gb: float = 0.5  # size of each in-memory folder
    file_gb: float = 0.25  # size of one file
    num_files: int = 20_000  # in each in-memory folder


class Slot(AbstractContextManager["Slot"]):
    """A persistent sandbox that runs one submission at a time."""

    def __init__(self, limits: SubmissionLimits | None = None) -> None:
        self.limits = limits or SubmissionLimits()
        # The process of the sandbox, the channel to it, and the log of the kit's own processes in it.
        self._sandbox: tuple[subprocess.Popen[bytes], Connection, IO[bytes]] | None = None
        self._framework = HOROVOD
        self._joins_nobody = False  # True if Horovod cannot join ranks here; known once a sandbox has imported it

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def submission(self, framework: str = HOROVOD) -> Iterator[Running]:
        """Run one submission within the block, and end all of its processes when the block is left.

        A `Fault` is raised if the sandbox breaks down.
        """
        if self._joins_nobody and framework == HOROVOD:
            raise CourseKitError(*JOINS_NOBODY)
        if self._sandbox and (self._sandbox[0].poll() is not None or framework != self._framework):
            self.close()
        self._framework = framework  # the sandbox imports it
        process, channel, _ = self._sandbox or self._started()
        pid, own = process.pid, self.limits
        watcher = Watcher(
            pid,
            lambda: find_zygote(pid),
            memory_bytes=int((own.memory_gb + OWN_MEMORY_GB) * 2**30),
            num_processes=own.num_processes,
            num_files=own.num_files,
            own_s=own.notebook_s + GRACE_S,
        )
        allowance = {  # the arguments of `coursekit.grading.isolation.namespaces.Allowance`
            "tmp_bytes": int(own.tmp_gb * 2**30),
            "num_files": own.num_files,
            "max_num_processes": own.num_threads,
            "max_file_bytes": int(own.file_gb * 2**30),
            "max_memory_bytes": int(own.memory_gb * 2**30),
            "max_cpu_s": int(own.notebook_s),
            "in_sight": tuple(map(str, hidden_folders([PACKAGE, *python_folders()]))),
        }
        with watcher as watch:
            running = Running(channel, pid, watch, own.notebook_s)
            try:
                running.send(allowance)
                yield running
            finally:
                if not running.end():
                    self.close()

    def close(self) -> None:
        """End the sandbox and everything in it; it is safe to call this method twice."""
        sandbox, self._sandbox = self._sandbox, None
        if sandbox:
            process, channel, log = sandbox
            channel.close()
            processes.kill_below(process.pid)
            process.kill()
            process.wait()
            LOGGER.info("sandbox %d ended with status %s: %s", process.pid, process.returncode, _last_words(log))
            log.close()

    def _started(self) -> tuple[subprocess.Popen[bytes], Connection, IO[bytes]]:
        ours, theirs = socket.socketpair()
        argv = [sys.executable, "-I", "-c", PROGRAM.format(folder=str(PACKAGE.parent)), str(theirs.fileno())]
        log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the sandbox
        seen, environ = seen_inside()
        with theirs:
            process = subprocess.Popen(
                command(
                    argv, seen, {**environ, VARIABLE: self._framework}, tmp_bytes=int(2 * self.limits.tmp_gb * 2**30)
                ),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        self._sandbox = process, Connection(ours.detach()), log
        failure = _first_words(self._sandbox[1], start_up(START_TIMEOUT_S, process.pid))
        if failure:
            said = _last_words(log)
            self.close()
            self._joins_nobody = failure == str(JOINS_NOBODY)
            if self._joins_nobody:
                raise CourseKitError(*JOINS_NOBODY)
            raise CourseKitError(f"{failure}; it wrote: {said}.", "sandbox.not-started")
        LOGGER.info("sandbox %d started", process.pid)
        return self._sandbox


def _last_words(log: IO[bytes]) -> str:
    log.seek(0)
    return printable(log.read().decode(errors="replace").strip()[-2000:]) or "nothing"


def _first_words(channel: Connection, deadline: Deadline) -> str:
    """Wait for the sandbox's first message, and return the reason why it did not start, or '' if it started."""
    try:
        message = receive(channel, deadline)
    except (EOFError, OSError, wire.NotPlainError):
        return "the sandbox ended before it was ready"
    except TooSlowError:
        message = None
    if message is None:
        busy = f"load {os.getloadavg()[0]:.0f} on {counted(len(os.sched_getaffinity(0)), 'core')}"
        return (
            f"the sandbox did not start within {START_TIMEOUT_S:g} s ({busy}): "
            "grade with `--jobs 1`, or stop other programs"
        )
    return str(message["failure"])


def shown_files() -> set[Path]:
    """Return those files and folders of the kit that are visible inside the sandbox."""
    modules = [PACKAGE.joinpath(*module.split(".")) for module in MODULES]
    packages = {parent for path in modules for parent in path.parents if parent.is_relative_to(PACKAGE)}
    shown = {path if path.is_dir() else path.with_suffix(".py") for path in modules}
    return shown | {package / "__init__.py" for package in packages}


def _folder_of_mpirun() -> list[Path]:
    launcher = mpirun()
    return [Path(launcher).parent] if launcher else []


def seen_inside() -> tuple[dict[str, Path], dict[str, str]]:
    """Return the files visible inside the sandbox, keyed by their paths there, and the environment.

    The first call generates the labs' images.
    """
    seen = {str(path): path for path in sorted(shown_files())}
    environ = {
        "PATH": ":".join(map(str, (Path(sys.executable).parent, *_folder_of_mpirun(), "/usr/bin", "/bin"))),
        "HOME": HIDDEN[0],
        "TMPDIR": HIDDEN[0],
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_ENABLE_ONEDNN_OPTS": "0",  # rewriting these tiny graphs takes longer than it saves
        "CUDA_VISIBLE_DEVICES": "-1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    kept = {name: os.environ[name] for name in OF_MPI if name in os.environ}
    return {**seen, DATA: find_data().parent}, {**environ, **kept, "COURSEKIT_DATA": DATA}
