"""Execute a whole notebook for grading: no cell can stop it, outlast it or leave a process behind."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from copy import deepcopy
from time import monotonic
from typing import TYPE_CHECKING

from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_output

from coursekit.grading.kernels import running_kernel
from coursekit.grading.nbgrader_settings import IOPUB_TIMEOUT_S

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from nbformat import NotebookNode

# How long an interrupted cell may tidy up (ranks stop their peers) before its kernel is ended.
INTERRUPT_GRACE_S = 10.0


async def execute(
    notebook: NotebookNode,
    folder: Path,
    timeout_s: float,
    *,
    cell_timeout_s: float | None = None,
) -> NotebookNode:
    """Execute every code cell in one fresh kernel and return the notebook with its outputs.

    Errors are outputs, as with nbgrader: the next cell still runs.
    Several may run in one event loop; cancelling one ends its kernel.
    A cell that runs too long is interrupted and marked with a `CellTimeoutError`.
    When the kernel dies, will not be interrupted or the time of the notebook is up, every cell after that
    carries a `NotRun` error, so that no test among them can count as passed.

    Args:
        notebook: The notebook; it is not changed.
        folder: Working folder of the kernel.
        timeout_s: Seconds for the whole notebook, not counting the start of the kernel.
        cell_timeout_s: Seconds for one cell; None means as long as the notebook has left.

    Returns:
        An executed copy of the notebook.

    Raises:
        CourseKitError: If the notebook names a kernel that is not installed.
    """
    executed = deepcopy(notebook)
    cells = [(index, cell) for index, cell in enumerate(executed.cells) if _runs(cell)]
    for _, cell in cells:
        cell.outputs, cell.execution_count = [], None
    kernel_name = executed.metadata.get("kernelspec", {}).get("name", "python3")
    why_stopped = ""
    async with running_kernel(folder, kernel_name) as (manager, kernel_client):
        client = NotebookClient(
            executed, km=manager, allow_errors=True, record_timing=False, iopub_timeout=IOPUB_TIMEOUT_S
        )
        client.kc = kernel_client
        client.on_cell_executed = _keep_error
        deadline = monotonic() + timeout_s
        while cells and not why_stopped:
            index, cell = cells.pop(0)
            limit_s = min(cell_timeout_s or timeout_s, deadline - monotonic())
            why_stopped = await _execute_cell(client, cell, index, limit_s)
            if monotonic() >= deadline:
                why_stopped = why_stopped or f"the notebook had used its {timeout_s:g} s"
    for _, cell in cells:
        _add_error(cell, "NotRun", why_stopped)
    return executed


def _runs(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


async def _execute_cell(client: NotebookClient, cell: NotebookNode, index: int, limit_s: float) -> str:
    """Execute one cell and return why no other can follow, or nothing."""
    running = asyncio.ensure_future(_kernel_dies_in(client, cell, index))
    try:
        in_time, _ = await asyncio.wait({running}, timeout=limit_s)
        if not in_time:
            with suppress(RuntimeError):  # it has just died
                await client.km.interrupt_kernel()
            await asyncio.wait({running}, timeout=INTERRUPT_GRACE_S)
    finally:
        running.cancel()
        await asyncio.wait({running})
    died = running.cancelled() or running.result()
    if not in_time:
        _add_error(cell, "CellTimeoutError", f"the cell was stopped after {limit_s:.3g} s")
        return "an earlier cell could not be interrupted" if died else ""
    if died:
        _add_error(cell, "DeadKernelError", "the kernel died in this cell")
        return "the kernel died in an earlier cell"
    return ""


async def _kernel_dies_in(client: NotebookClient, cell: NotebookNode, index: int) -> bool:
    try:
        await client.async_execute_cell(cell, index)
    except DeadKernelError:  # which is also what nbclient makes of being cancelled
        return True
    return False


def _keep_error(cell: NotebookNode, execute_reply: dict[str, Any], **_: Any) -> None:
    # An error that was never printed, or whose print got lost, is still an error.
    reply = execute_reply["content"]
    if reply["status"] == "error" and not any(output.output_type == "error" for output in cell.outputs):
        _add_error(cell, reply["ename"], reply["evalue"])


def _add_error(cell: NotebookNode, name: str, value: str) -> None:
    # At the front, since nbgrader lets the first output decide.
    cell.outputs.insert(0, new_output("error", ename=name, evalue=value, traceback=[f"{name}: {value}"]))
