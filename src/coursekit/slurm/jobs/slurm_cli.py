"""Slurm's own commands, called in one place: with a time limit, and with failures that are one sentence."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.ranks.environ import scrubbed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TIMEOUT_S = 60.0  # a busy controller answers late, and tells its commands itself to try again

# What a job would inherit from a notebook that runs inside another job, and misunderstand as its own.
# SLURM_CONF and the like say where the controller is and stay.
JOB_PREFIXES = (
    *("SLURM_JOB", "SLURM_STEP", "SLURM_TASK", "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NNODES", "SLURM_NODE"),
    *("SLURM_CPU", "SLURM_MEM", "SLURM_GPU", "SLURM_TRES", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_GTIDS"),
    *("SLURM_SUBMIT", "SLURM_SRUN", "SLURM_LAUNCH", "SLURM_DISTRIBUTION", "SLURM_THREADS", "SLURM_HINT"),
    *("SRUN_CPUS_PER_TASK", "COURSEKIT_STEP_"),
)
# What a kernel has for its own output (ipykernel's `init_io` and its launcher); a log would fill with colour codes.
KERNEL_VARIABLES = {"CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "MPLBACKEND", "PAGER", "GIT_PAGER", "JPY_PARENT_PID"}

# What Slurm's commands say where no controller is configured, or where it is down.
NO_SLURM = ("Could not establish a configuration source", "Unable to contact slurm controller")


class SlurmError(CourseKitError):
    """A command of Slurm failed.

    Attributes:
        words: what the command said, without the prefix `sbatch: error:`; '' when it said nothing.
    """

    def __init__(self, message: str, words: str = "") -> None:
        super().__init__(message)
        self.words = words


def call(program: str, *words: str, folder: Path | None = None, environ: dict[str, str] | None = None) -> str:
    """Run one of Slurm's commands and return what it printed.

    Raises:
        SlurmError: it is not there, fails, or does not end in time.
    """
    if shutil.which(program) is None:
        raise SlurmError(f"there is no {program} on this machine: jobs are handled on a login node.")
    try:
        ended = subprocess.run(
            [program, *words],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SlurmError(f"{program} gave no answer in {TIMEOUT_S:g} s: Slurm is busy, try again later.") from None
    if ended.returncode:
        said = without_prefix(ended.stderr, program)
        if any(words in said for words in NO_SLURM):
            raise SlurmError(f"{program} finds no Slurm: go to a login node, or try later if you are on one ({said}).")
        raise SlurmError(f"{program} failed: {said or f'exit status {ended.returncode}'}", said)
    return ended.stdout


def sbatch(script: Path, folder: Path, arguments: Sequence[str] = ()) -> str:
    """Submit a script with these arguments and this working folder, and return the job's id.

    Raises:
        SlurmError: Slurm refused; `words` holds its reason.
    """
    said = call("sbatch", "--parsable", str(script), *arguments, folder=folder, environ=job_environment())
    return said.strip().splitlines()[-1].partition(";")[0]


def job_environment() -> dict[str, str]:
    """Return this process's environment without what belongs to the job or the kernel that it may run in."""
    environ = scrubbed()
    return {name: environ[name] for name in environ.keys() - KERNEL_VARIABLES if not name.startswith(JOB_PREFIXES)}


def without_prefix(said: str, program: str) -> str:
    """Return what a command of Slurm said, in one line and without its name."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for prefix in (f"{program}: ", "error: ", "Batch job submission failed: "):
        lines = [line.removeprefix(prefix) for line in lines]
    return ", ".join(lines)
