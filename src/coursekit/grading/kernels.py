"""Jupyter kernels that leave nothing behind: no process, no port, no file."""

from __future__ import annotations

import tempfile
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from jupyter_client.manager import AsyncKernelManager

from coursekit.errors import CourseKitError
from coursekit.grading.nbgrader_settings import STARTUP_TIMEOUT_S
from coursekit.processes import end_all, end_marked, kernel_environment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from typing import IO

    from jupyter_client.asynchronous.client import AsyncKernelClient

SHUTDOWN_TIMEOUT_S = 4.0


@asynccontextmanager
async def running_kernel(folder: Path, kernel_name: str) -> AsyncIterator[tuple[AsyncKernelManager, AsyncKernelClient]]:
    """Run a kernel; on the way out end it and all its descendants, whatever happened inside.

    Args:
        folder: Working folder of the kernel.
        kernel_name: Name of an installed kernel.

    Yields:
        The manager of the kernel and a client that is connected to it.

    Raises:
        CourseKitError: If there is no such kernel.
        RuntimeError: If the kernel does not answer within two minutes.
    """
    try:
        KernelSpecManager().get_kernel_spec(kernel_name)
    except NoSuchKernel as error:
        raise CourseKitError(f"there is no kernel named {kernel_name!r}: install ipykernel here.") from error
    with _runtime_folder() as (runtime, log):
        # Sockets instead of ports: kernels that start together cannot race for the same one.
        manager = AsyncKernelManager(
            kernel_name=kernel_name,
            transport="ipc",
            connection_file=str(runtime / "kernel.json"),
            shutdown_wait_time=SHUTDOWN_TIMEOUT_S,
        )
        environment = kernel_environment(runtime)
        client = None
        try:
            await manager.start_kernel(cwd=str(folder), env=environment, stdout=log, stderr=log)
            client = manager.client()
            client.start_channels()
            await client.wait_for_ready(timeout=STARTUP_TIMEOUT_S)
            yield manager, client
        finally:
            if client is not None:
                client.stop_channels()
            await _end(manager, runtime)


@contextmanager
def _runtime_folder() -> Iterator[tuple[Path, IO[bytes]]]:
    """Make a folder for the sockets, with a path short enough for them, and a file for what the kernel logs."""
    with tempfile.TemporaryDirectory(prefix="kernel-") as name, Path(name, "kernel.log").open("wb") as log:
        yield Path(name), log


async def _end(manager: AsyncKernelManager, runtime: Path) -> None:
    # Asked before the kernel ends, since orphans can no longer be told from strangers.
    descendants = _descendants(manager)
    try:
        await manager.shutdown_kernel()
    finally:
        end_all(descendants)
        end_marked(runtime)


def _descendants(manager: AsyncKernelManager) -> list[psutil.Process]:
    pid = getattr(manager.provisioner, "pid", None)
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True) if pid else []
    return []
