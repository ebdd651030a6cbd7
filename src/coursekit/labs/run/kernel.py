"""papermill's engine for a lab: the kernel uses the same Python as this process, and ends after the last cell."""

from __future__ import annotations

import logging
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines

from coursekit.corrected_time import longest_wall_s
from coursekit.environ import kernel_environment
from coursekit.labs.run.watch import KERNEL_LOG, KernelWatch
from coursekit.paths import socket_folder

ENGINE = "coursekit"
START_TIMEOUT_S = int(longest_wall_s(20))  # Jupyter counts only wall-clock time

# Messages of nbclient and papermill about a failing kernel would spoil the progress display; they are in the result.
silent = logging.getLogger("coursekit.kernel")
silent.addHandler(logging.NullHandler())
silent.propagate = False
# Ctrl-C can leave a coroutine of nbclient behind, but this is of no interest to the user.
warnings.filterwarnings("ignore", r"coroutine 'NotebookClient\.", RuntimeWarning)


class ThisPython(KernelSpecManager):
    """Offers a single kernel, which uses the same Python as this process.

    Sites and users set Jupyter's search paths, so Jupyter may find another `python3` first; the kernel for a hub
    (`coursekit kernel`) would start a container inside the job's container.
    """

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return a specification that starts ipykernel, whatever the kernel's name."""
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name=kernel_name,
            language="python",
            metadata={"kernel_provisioner": {"provisioner_name": "local-provisioner"}},  # a process on this machine
        )


class LabEngine(NBClientEngine):  # type: ignore[misc] # papermill has no types
    """papermill's own engine with our kernel, working folder, environment and hooks."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        """Execute the notebook in papermill's manager, which saves it after every cell; the option `watch` is ours."""
        watch: KernelWatch = options["watch"]
        with (
            # With sockets in a private folder (/kernel-12345678/kernel-ipc-5), no port is open to others.
            tempfile.TemporaryDirectory(prefix="kernel-", dir=socket_folder(29)) as sockets,
            (watch.folder / KERNEL_LOG).open("wb") as log,
        ):
            manager = AsyncKernelManager(
                kernel_name=kernel_name,
                kernel_spec_manager=ThisPython(),
                transport="ipc",
                connection_file=str(Path(sockets, "kernel.json")),
            )
            client = PapermillNotebookClient(
                nb_man,
                km=manager,
                startup_timeout=START_TIMEOUT_S,
                iopub_timeout=START_TIMEOUT_S,  # otherwise output that arrives 4 s after the answer is lost
                log=silent,
                allow_errors=True,  # the watch decides where the run stops
                # Jupyter's interface covers remote kernels and has no process id; our local provisioner has one.
                on_notebook_start=lambda notebook: watch.kernel_started(int(manager.provisioner.pid), notebook),  # type: ignore[union-attr]
                on_cell_execute=watch.cell_started,
                on_cell_executed=watch.cell_finished,
                on_cell_error=watch.cell_failed,
            )
            environment = kernel_environment(watch.folder)
            client.execute(cwd=str(watch.folder), env=environment, stdout=log, stderr=log, cleanup_kc=True)


papermill_engines.register(ENGINE, LabEngine)
