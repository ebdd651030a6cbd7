"""A papermill engine that tells what happens in a kernel, and ends a kernel that takes too long."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import threading
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from jupyter_client.manager import AsyncKernelManager
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines

from coursekit.labs.cells import stopping_at_errors
from coursekit.labs.run.memory import MemoryWatch
from coursekit.labs.run.preloaded import use_provisioner
from coursekit.ranks.deadline import Deadline, TooSlowError
from coursekit.ranks.environ import kernel_environment
from coursekit.ranks.own_time import OwnTime, longest_wall_s, tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from nbformat import NotebookNode

    from coursekit.labs.run.preloaded import PreloadedKernels

ENGINE = "coursekit"
KERNEL_LOG = "kernel.log"
START_TIMEOUT_S = int(longest_wall_s(20))  # Jupyter knows the wall only
# A cell that is interrupted may have ranks to end before its traceback appears.
INTERRUPT_GRACE_S = 10.0
# A notebook that says this gets a kernel that has it imported; others start faster without.
PRELOADED = "tensorflow"

# The words of nbclient and papermill about a failing kernel would spoil the progress display; the result has them.
silent = logging.getLogger("coursekit.kernel")
silent.addHandler(logging.NullHandler())
silent.propagate = False
# Ctrl-C can leave a coroutine of nbclient's behind, which those who pressed it need not hear of.
warnings.filterwarnings("ignore", r"coroutine 'NotebookClient\.", RuntimeWarning)


@dataclass
class KernelWatch:
    """What is known about one lab's kernel while it runs and afterwards.

    Attributes:
        folder: Working folder of the kernel.
        time_limit_s: Seconds from the kernel's first answer until it is interrupted, of its own time and that of what
            it has started.
        on_cell: Called with number, total and name of each code cell that starts.
        total: Number of code cells.
        current: The code cell that is running or ran last; None before the first.
        number: Its position among the code cells, counted from 1.
        finished: Ids of the cells that the kernel reported as done, with or without an error.
        failed: Whether `current` raised an error that its tags do not allow.
        overdue: Whether the time limit has passed.
        too_slow: Why the machine, not the lab, is to blame that the kernel was interrupted; '' when it is not.
        memory: Samples of the kernel and everything below it; None before the kernel has started.
    """

    folder: Path
    time_limit_s: float
    on_cell: Callable[[int, int, str], None]
    total: int = 0
    current: NotebookNode | None = None
    number: int = 0
    finished: set[str] = field(default_factory=set)
    failed: bool = False
    overdue: bool = False
    too_slow: str = ""
    memory: MemoryWatch | None = None
    _stopped: threading.Event = field(default_factory=threading.Event)

    def kernel_started(self, pid: int, notebook: NotebookNode) -> None:
        """Begin to measure memory and time."""
        self.total = sum(cell.cell_type == "code" and bool(cell.source.strip()) for cell in notebook.cells)
        kernel = psutil.Process(pid)
        self.memory = MemoryWatch(kernel)
        self.memory.start()
        threading.Thread(target=self._keep_time, args=[kernel], name="kernel-time", daemon=True).start()

    def cell_started(self, cell: NotebookNode, **_: Any) -> None:
        """Note which cell runs."""
        self.current = cell
        self.number += 1
        self.on_cell(self.number, self.total, cell_name(cell))

    def cell_finished(self, cell: NotebookNode, **_: Any) -> None:
        """Note that the kernel has answered for a cell."""
        self.finished.add(cell.id)
        if self.number == self.total:
            self._sample_memory()

    def cell_failed(self, cell: NotebookNode, **_: Any) -> None:
        """Note an error, unless the cell's tag says that it is part of the lesson."""
        self.failed = "raises-exception" not in cell.metadata.get("tags", [])
        if self.failed:
            self._sample_memory()

    def stop(self) -> set[psutil.Process]:
        """Stop measuring, and return every process that was seen."""
        self._stopped.set()
        if self.memory is None:
            return set()
        self.memory.stop()
        return self.memory.seen

    def _sample_memory(self) -> None:
        # Before the kernel ends: on a busy machine the last sample may be long ago.
        if self.memory:
            self.memory.sample()

    def _keep_time(self, kernel: psutil.Process) -> None:
        # With this process, which sends the cells: where it is held up, the kernel waits for it.
        clock = OwnTime(lambda: [os.getpid(), *tree(kernel.pid)])
        if self._is_over(Deadline(self.time_limit_s, clock.tick)):
            self._interrupt(kernel)
            if self._is_over(Deadline(INTERRUPT_GRACE_S, clock.tick)):
                with suppress(psutil.NoSuchProcess):
                    kernel.kill()

    def _is_over(self, deadline: Deadline) -> bool:
        """Wait for a deadline, or until this watch is stopped; return whether it has passed."""
        try:
            while left_s := deadline.left_s():
                if self._stopped.wait(left_s):
                    return False
        except TooSlowError as error:
            self.too_slow = str(error)
        return True

    def _interrupt(self, kernel: psutil.Process) -> None:
        self.overdue = True
        # As Jupyter's stop button does, to the whole group: a cell may wait for a command it has started.
        with suppress(psutil.Error, ProcessLookupError):
            if kernel.is_running():
                os.killpg(os.getpgid(kernel.pid), signal.SIGINT)


class _Manager(AsyncKernelManager):
    """Jupyter's manager, which interrupts a kernel ahead of its end, but only one that has not answered.

    Another one would note in its log as an error that it was interrupted before it had come to rest.
    """

    watch: KernelWatch

    async def _async_interrupt_kernel(self) -> None:
        if self.watch.current is not None and self.watch.current.id not in self.watch.finished:
            await super()._async_interrupt_kernel()


class LabEngine(NBClientEngine):  # type: ignore[misc] # papermill has no types
    """papermill's own engine with our working folder, environment and hooks."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        """Execute the notebook; called by papermill.

        Args:
            nb_man: papermill's manager of the notebook, which saves it after every cell.
            kernel_name: Name of an installed kernel.
            options: What was given to `papermill.execute_notebook`: `watch` is the `KernelWatch` to keep, `kernels`
                are the `PreloadedKernels` to choose from.
        """
        watch: KernelWatch = options["watch"]
        kernels: PreloadedKernels | None = options["kernels"]
        if not any(PRELOADED in cell.source for cell in nb_man.nb.cells if cell.cell_type == "code"):
            kernels = None
        # Sockets in a private folder: no port that others on a login node could reach, and a path short enough for one.
        with tempfile.TemporaryDirectory(prefix="kernel-") as sockets, (watch.folder / KERNEL_LOG).open("wb") as log:
            manager = _Manager(
                kernel_name=kernel_name, transport="ipc", connection_file=str(Path(sockets, "kernel.json"))
            )
            manager.watch = watch
            use_provisioner(manager)
            client = PapermillNotebookClient(
                nb_man,
                km=manager,
                startup_timeout=START_TIMEOUT_S,
                iopub_timeout=START_TIMEOUT_S,  # else output that comes 4 s after the answer is lost
                log=silent,
                on_notebook_start=lambda notebook: watch.kernel_started(_pid(manager), notebook),
                on_cell_execute=watch.cell_started,
                on_cell_executed=watch.cell_finished,
                on_cell_error=watch.cell_failed,
            )
            environment = kernel_environment(watch.folder)
            with stopping_at_errors(nb_man.nb):
                client.execute(
                    cwd=str(watch.folder), env=environment, stdout=log, stderr=log, cleanup_kc=True, kernels=kernels
                )


def cell_name(cell: NotebookNode) -> str:
    """Return the name of a cell in the authored source; papermill's own cell is called after its tag."""
    if "injected-parameters" in cell.metadata.get("tags", []):
        return "injected-parameters"
    return str(cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", ""))


def _pid(manager: AsyncKernelManager) -> int:
    # Jupyter's interface for kernels elsewhere knows no process id; the local one, which we start, has it.
    return int(manager.provisioner.pid)  # type: ignore[union-attr]


papermill_engines.register(ENGINE, LabEngine)
