"""What a result was measured on: machine, versions, commit."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from coursekit import KERAS

# TensorFlow is published under several names; the first one installed counts.
TENSORFLOW_NAMES = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu")
PACKAGES = ("horovod", "nbgrader", "papermill", "coursekit")
TOOL_TIMEOUT_S = 20
NUM_COMMIT_DIGITS = 10


@dataclass(frozen=True)
class Facts:
    """The circumstances of a run.

    Attributes:
        device: Name of the GPUs, or of the processor where none can be used.
        num_cpus: Processors this process may use.
        versions: Version of Python and of each package; "not installed" where it is missing.
        commit: Commit of the course checkout; None outside git.
        dirty: Whether tracked files differ from that commit, or there are files that git does not know.
        nodes: All nodes of the Slurm job it ran in, as Slurm folds them: `acn[01-02]`; '' outside one.
    """

    host: str
    device: str
    num_cpus: int
    versions: Mapping[str, str]
    commit: str | None
    dirty: bool
    nodes: str = ""
    job_id: str = ""

    def in_words(self) -> tuple[str, str, str]:
        """Return the machine or all nodes of the job, the versions, and the commit, each in one line."""
        where = f"{self.nodes} (Slurm job {self.job_id})" if self.nodes else self.host
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        commit = (
            self.commit[:NUM_COMMIT_DIGITS] + " with local changes" * self.dirty if self.commit else "not under git"
        )
        return f"{where}: {self.device}, {self.num_cpus} processors usable", versions, commit


def collect(root: Path) -> Facts:
    """Return the facts of this process and of the course checkout at `root`."""
    commit = _output("git", "-C", str(root), "rev-parse", "HEAD")
    # Touching a file does not count as a change, and no lock is taken that a commit elsewhere would trip over.
    changes = commit and _output("git", "--no-optional-locks", "-C", str(root), "status", "--porcelain")
    tensorflow = next((_version(name) for name in TENSORFLOW_NAMES if _version(name)), "")
    found = {"python": platform.python_version(), "tensorflow": tensorflow, "keras": _version(KERAS)}
    found |= {name: _version(name) for name in PACKAGES}
    return Facts(
        host=socket.gethostname(),
        device=_gpu_names() or _processor_name(),
        num_cpus=len(os.sched_getaffinity(0)),
        versions={name: number or "not installed" for name, number in found.items()},
        commit=commit or None,
        dirty=bool(changes),
        nodes=os.environ.get("SLURM_JOB_NODELIST", ""),
        job_id=os.environ.get("SLURM_JOB_ID", ""),
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _gpu_names() -> str:
    """Return the GPUs that TensorFlow may use, as "2 x NVIDIA A100-SXM4-40GB"; empty if there are none."""
    # A GPU is only worth naming when this TensorFlow can drive it and nobody has hidden it from the labs.
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in {"", "-1"}
    if hidden or _version("tensorflow-cpu") or not shutil.which("nvidia-smi"):
        return ""
    names = _output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines()
    kinds = sorted(set(names))
    return ", ".join(f"{names.count(kind)} x {kind}" for kind in kinds)


def _processor_name() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))  # x86 alone has it
    return next(names, "") or platform.processor() or platform.machine()


def _output(*command: str) -> str:
    """Return what a command prints; empty when it is missing, fails or takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TOOL_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
