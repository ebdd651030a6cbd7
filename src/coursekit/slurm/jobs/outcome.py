"""What a job left behind: its result, the executed notebook and the pictures in it."""

from __future__ import annotations

import base64
import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from coursekit.labs.run.formatting import format_points, format_time
from coursekit.labs.run.results import FAILED, PASSED, LabResult
from coursekit.text import counted

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.slurm.jobs.remembered import SubmittedJob

PNG = "image/png"
# Job numbers begin again with a new controller: what is older than the submission belongs to another job.
CLOCK_TOLERANCE_S = 120


@dataclass(frozen=True)
class NotebookPicture:
    """A picture of an executed notebook, as bytes of a PNG file, with its text alternative."""

    cell: str
    content: bytes
    alternative: str


def read_result(root: Path, job: SubmittedJob) -> LabResult | None:
    """Return the result that a job left, or None if it has left none yet."""
    path = _newest(root, job, "result.json")
    with suppress(OSError, ValueError, TypeError, LookupError):
        return LabResult.from_json(json.loads(path.read_text(encoding="utf-8"))) if path else None
    return None


def executed_notebook(root: Path, job: SubmittedJob) -> Path | None:
    """Return where the executed notebook is, or None before it is written."""
    return _newest(root, job, f"{job.lab}.ipynb")


def describe_result(result: LabResult) -> str:
    """Return the verdict in a few lines: points, time, and what is missing."""
    head = f"{result.lab}: {result.verdict}"
    if result.scores:
        head += f", {format_points(result)} points"
    lines = [f"{head}, in {format_time(result.time_s)} on {counted(result.num_ranks, 'rank')}."]
    if result.verdict != PASSED and result.reason:
        lines.append(f"It did not pass: {result.reason}.")
    if result.verdict == FAILED and result.failed_cell and result.failed_cell.error:
        lines.append(result.failed_cell.error)
    return "\n".join(lines)


def read_pictures(notebook: Path) -> list[NotebookPicture]:
    """Return all PNG pictures of an executed notebook in their order; [] when it cannot be read."""
    pictures = []
    with suppress(OSError, ValueError, LookupError, TypeError):
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                if PNG in output.get("data", {}):
                    content = base64.b64decode("".join(output["data"][PNG]))
                    alternative = output.get("metadata", {}).get(PNG, {}).get("alt", "")
                    pictures.append(NotebookPicture(str(cell.get("id", "cell")), content, alternative))
    return pictures


def save_pictures(notebook: Path) -> list[Path]:
    """Write all pictures of a notebook as files beside it, named by their order and cell, and return where."""
    paths = []
    for number, picture in enumerate(read_pictures(notebook), 1):
        path = notebook.with_name(f"picture-{number}-{picture.cell}.png")
        path.write_bytes(picture.content)
        paths.append(path)
    return paths


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")


def _newest(root: Path, job: SubmittedJob, name: str) -> Path | None:
    """Return a file of the job's last start; Slurm may start a job again, and earlier starts had ends of their own."""
    first = root / job.folder
    starts = {int(path.name.rpartition("-")[2]): path for path in first.parent.glob(f"{first.name}-attempt-*[0-9]")}
    path = (starts[max(starts)] if starts else first) / name
    oldest = datetime.fromisoformat(job.submitted).timestamp() - CLOCK_TOLERANCE_S
    return path if path.is_file() and path.stat().st_mtime > oldest else None
