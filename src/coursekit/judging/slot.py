"""One place where submissions run, one after the other: a sandbox with a zygote in it, used again and again."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from coursekit.errors import CourseKitError
from coursekit.imagenet import find_data
from coursekit.inside import wire
from coursekit.judging.conversation import Fault
from coursekit.sandbox.walls import View, command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PACKAGE = Path(__file__).resolve().parents[1]
# Of the kit only this is seen inside: nothing that knows what is right.
INSIDE = (
    *("__init__.py", "errors.py", "mime_types.py", "pictures.py", "estimator_pictures.py", "training_pictures.py"),
    *("drivers", "imagenet", "inside", "ranks", "sandbox", "throughput"),
)
DATA = "/data"
PROGRAM = "import sys; sys.path.insert(0, {folder!r}); from coursekit.inside.zygote import main; main()"
START_TIMEOUT_S = 120.0
PATIENCE_S = 10.0  # beyond a request's own time, before the whole submission is ended from outside


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Attributes:
        wall_s: seconds for the whole notebook.
        cell_s: seconds for one cell.
        memory_gb: of all its processes together.
        num_processes: of all its processes.
        tmp_gb: size of the folders in memory.
        file_gb: size of one file.
        num_files: in each folder in memory.
    """

    wall_s: float = 600.0
    cell_s: float = 60.0
    memory_gb: float = 6.0
    num_processes: int = 512
    tmp_gb: float = 0.5
    file_gb: float = 0.25
    num_files: int = 20_000


def _environ(folder: str, *, is_walled: bool) -> dict[str, str]:
    home = "/tmp" if is_walled else folder  # noqa: S108  # the sandbox's own
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "CUDA_VISIBLE_DEVICES": "-1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "COURSEKIT_DATA": DATA if is_walled else str(find_data().parent),
    }


@dataclass
class Slot:
    """A sandbox that stays, and runs one submission at a time.

    Attributes:
        sandbox: one of `coursekit.sandbox.walls.SANDBOXES`.
        limits: of each submission.
        cores: the cores that it keeps to; all when empty.
        image: the container image, for Apptainer.
    """

    sandbox: str = "bwrap"
    limits: Limits = field(default_factory=Limits)
    cores: Sequence[int] = ()
    image: Path | None = None
    _process: subprocess.Popen[bytes] | None = None
    _judge: Connection | None = None

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
        running = Running(self._connection(), self._process_id())
        try:
            running.send(self._allowance())
            yield running
        finally:
            if not running.end():
                self.close()

    def close(self) -> None:
        """End the sandbox and all that is in it; safe to call twice."""
        process, self._process = self._process, None
        if self._judge:
            self._judge.close()
        if process:
            _end_tree(process)
        if self._folder:
            self._folder.cleanup()
            self._folder = None

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def _connection(self) -> Connection:
        if self._judge is None:
            raise Fault("the sandbox has no connection")
        return self._judge

    def _process_id(self) -> int:
        return self._process.pid if self._process else 0

    def _allowance(self) -> dict[str, Any]:
        """Return what `coursekit.sandbox.namespaces.Allowance` takes."""
        return {
            "tmp_bytes": int(self.limits.tmp_gb * 2**30),
            "num_files": self.limits.num_files,
            "max_num_processes": self.limits.num_processes,
            "max_file_bytes": int(self.limits.file_gb * 2**30),
            "max_memory_bytes": int(self.limits.memory_gb * 2**30),
            "max_cpu_s": int(self.limits.wall_s),
            "walls": self.sandbox != "none",
        }

    def _start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="slot-")
        is_walled = self.sandbox != "none"
        shown = {str(PACKAGE / name): PACKAGE / name for name in INSIDE}
        data = {DATA: find_data().parent} if is_walled else {}
        view = View(
            {**shown, **data}, _environ(self._folder.name, is_walled=is_walled), int(self.limits.tmp_gb * 2**31)
        )
        ours, theirs = socket.socketpair()
        program = PROGRAM.format(folder=str(PACKAGE.parent))
        argv = [sys.executable, "-I", "-c", program, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                command(self.sandbox, view, argv, image=self.image),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=(Path(self._folder.name) / "log").open("wb"),
                start_new_session=True,
                preexec_fn=self._keep_to_cores if self.cores else None,  # noqa: PLW1509  # this process has no threads
            )
        self._judge = Connection(ours.detach())
        failure = self._first_words()
        if failure:
            log = (Path(self._folder.name) / "log").read_text(errors="replace").strip()[-2000:]
            self.close()
            raise CourseKitError(f"the sandbox does not start ({failure}): {log or 'it says nothing'}.")

    def _keep_to_cores(self) -> None:
        os.sched_setaffinity(0, self.cores)

    def _first_words(self) -> str:
        connection = self._connection()
        try:
            if not connection.poll(START_TIMEOUT_S):
                return f"no word within {START_TIMEOUT_S:g} s"
            failure = str(wire.loads(connection.recv_bytes())["failure"])
        except (EOFError, OSError):
            return "it ended"
        return failure.strip().splitlines()[-1] if failure else ""


class Running:
    """One submission in a slot."""

    def __init__(self, judge: Connection, pid: int) -> None:
        self._judge = judge
        self._pid = pid
        self._gone = False
        self.ended_from_outside = ""

    def send(self, message: dict[str, Any]) -> None:
        """Send plain data to the sandbox."""
        try:
            self._judge.send_bytes(wire.dumps(message))
        except OSError as error:
            raise Fault(f"the sandbox broke down ({error})") from None

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send a request and return the reply.

        A submission that does not answer in time is ended, from outside: that is the answer's doing.

        Raises:
            Fault: the sandbox broke down.
        """
        if self._gone:
            return {"error": ["ProcessEnded", "the run had to be ended from outside"]}
        self.send(request)
        message = self._receive(timeout_s + PATIENCE_S)
        if message is None:
            self._kill("it did not obey its time limit")
            message = self._receive(PATIENCE_S)
        if message is None:
            raise Fault("the sandbox does not answer")
        if "gone" in message:
            self._gone = True
            self.ended_from_outside = self.ended_from_outside or f"its launcher ended ({message['gone']})"
            return {"error": ["ProcessEnded", "the run had to be ended from outside"]}
        reply: dict[str, Any] = message["reply"]
        return reply

    def end(self) -> bool:
        """End the submission; return whether nothing of it is left and the slot can be used again."""
        with contextlib.suppress(Fault):
            if not self._gone:
                self.send({"op": "end"})
            deadline = time.monotonic() + PATIENCE_S
            while not self._gone and time.monotonic() < deadline:
                message = self._receive(PATIENCE_S)
                if message is None:
                    return False
                self._gone = "gone" in message
        return self._gone

    def _receive(self, timeout_s: float) -> dict[str, Any] | None:
        try:
            if not self._judge.poll(timeout_s):
                return None
            message: dict[str, Any] = wire.loads(self._judge.recv_bytes())
        except (EOFError, OSError, wire.NotPlainError) as error:
            raise Fault(f"the sandbox broke down ({type(error).__name__})") from None
        return message

    def _kill(self, why: str) -> None:
        """Kill the launcher and all below it; the zygote lives on and tells."""
        self.ended_from_outside = why
        for process in submission_processes(self._pid):
            with contextlib.suppress(psutil.Error):
                process.kill()


def submission_processes(pid: int) -> list[psutil.Process]:
    """Return the processes of the submission in the slot whose outermost process has this id."""
    with contextlib.suppress(psutil.Error):
        everything = psutil.Process(pid).children(recursive=True)
        zygote = next((one for one in everything if "coursekit.inside.zygote" in " ".join(one.cmdline())), None)
        if zygote:
            return list(zygote.children(recursive=True))
    return []


def _end_tree(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
    process.kill()
    process.wait()
