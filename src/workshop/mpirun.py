"""Run programs on ranks that Open MPI's `mpirun` starts on this machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from coursekit.environ import HIDE_GPUS, scrubbed
from coursekit.errors import CourseKitError
from coursekit.processes import MARK, end_marked, end_with_parent


def run_by_mpirun(  # noqa: PLR0913  # the settings of a launch
    program: Sequence[str],
    num_ranks: int,
    folder: Path,
    *,
    options: Sequence[str] = ("--bind-to", "none"),
    environ: Mapping[str, str] | None = None,
    timeout_s: float,
) -> str:
    """Run a program on CPU ranks and return what they printed; a private folder marks the program's processes.

    No process is left at the end. The exit status is ignored: look at what the program has written into the folder.

    Raises:
        CourseKitError: it took longer than `timeout_s`.
    """
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    process = subprocess.Popen(
        ["mpirun", *as_root, "-np", str(num_ranks), *options, *program],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**scrubbed(), **HIDE_GPUS, **(environ or {}), MARK: str(folder), "TF_CPP_MIN_LOG_LEVEL": "2"},
        start_new_session=True,
        preexec_fn=end_with_parent,  # noqa: PLW1509  # it takes no lock; ranks end with mpirun in the same way
    )
    try:
        said, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise CourseKitError(f"mpirun gave no result within {timeout_s:g} s: run `coursekit doctor`") from None
    finally:
        end_marked(folder)
        process.wait()
    return said
