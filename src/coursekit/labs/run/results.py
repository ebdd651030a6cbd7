"""The records of a run, which are written as JSON and read back unchanged, and functions that format their numbers.

The records include the circumstances in which a result was measured: machine, versions and commit.
"""

from __future__ import annotations

import os
import platform
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from coursekit import KERAS
from coursekit.labs.cells import CellScore

# TensorFlow is published under several names; the first one installed counts.
TENSORFLOW_NAMES = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu")
PACKAGES = ("horovod", "nbgrader", "papermill", "coursekit")
TOOL_TIMEOUT_S = 20
NUM_COMMIT_DIGITS = 10
HTML = "report.html"  # a run's report for human readers
PASSED, FAILED, INTERRUPTED, NOT_RUN = "passed", "failed", "interrupted", "not run"

MB_PER_GB = 1000
SECONDS_PER_MINUTE = 60
NOTHING = "-"
CHECK = "CheckError: "  # the message of a check begins with it
WHOLE_FROM = 100  # from here on, decimals are not significant

Value = bool | int | float | str | list[Any] | dict[str, Any] | None


@dataclass(frozen=True)
class Facts:
    """The circumstances of a run."""

    host: str
    device: str  # name of the GPUs, or of the processor if no GPU can be used
    num_cpus: int  # processors this process may use
    versions: Mapping[str, str]  # version of Python and of each package; "not installed" if it is missing
    commit: str | None  # commit of the course checkout; None outside git
    dirty: bool  # whether tracked files differ from that commit, or there are untracked files
    nodes: str = ""  # all nodes of its Slurm job in Slurm's notation, such as `acn[01-02]`; '' outside a job
    job_id: str = ""

    def in_words(self) -> tuple[str, str, str]:
        """Return three lines of text: the machine (or all nodes of the job), the versions, and the commit."""
        where = f"{self.nodes} (Slurm job {self.job_id})" if self.nodes else self.host
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        commit = (
            self.commit[:NUM_COMMIT_DIGITS] + " with local changes" * self.dirty if self.commit else "not under git"
        )
        return f"{where}: {self.device}, {self.num_cpus} processors usable", versions, commit


def gather_facts(root: Path) -> Facts:
    """Return the facts about this process and the course checkout at `root`."""
    commit = _output("git", "-C", str(root), "rev-parse", "HEAD")
    # A file that was only touched does not count as changed, and no lock is taken that could block a commit elsewhere.
    changes = commit and _output("git", "--no-optional-locks", "-C", str(root), "status", "--porcelain")
    tensorflow = next((_version(name) for name in TENSORFLOW_NAMES if _version(name)), "")
    found = {"python": platform.python_version(), "tensorflow": tensorflow, "keras": _version(KERAS)}
    found |= {name: _version(name) for name in PACKAGES}
    return Facts(
        host=socket.gethostname(),
        device=_device(),
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


def _device() -> str:
    """Return the GPUs that TensorFlow may use, such as "2 x NVIDIA A100-SXM4-40GB"; without GPUs, the processor."""
    # A GPU is named only if this TensorFlow can use it and it is not hidden from the labs.
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in {"", "-1"} or _version("tensorflow-cpu")
    gpus = [] if hidden else _output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines()
    if gpus:
        return ", ".join(f"{gpus.count(kind)} x {kind}" for kind in sorted(set(gpus)))
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))  # only x86 has it
    return next(names, "") or platform.processor() or platform.machine()


def _output(*command: str) -> str:
    """Return what a command prints; '' if the command is missing, fails or takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TOOL_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@dataclass(frozen=True)
class FailedCell:
    """A cell with an error: its number `[n]`, its name in the author's source, its code, and the end of its traceback.

    If the run failed before its first cell, the number is 0.
    """

    number: int
    name: str
    source: str
    error: str

    @property
    def place(self) -> str:
        """The cell's number and name, in words."""
        return f"cell {self.number} ({self.name})"


@dataclass(frozen=True)
class LabResult:
    """The result of one lab's run."""

    lab: str
    title: str
    verdict: str  # `passed`, `failed`, `interrupted` or `not run`
    reason: str  # a sentence on why it did not pass; empty if it did
    scores: tuple[CellScore, ...] = ()  # one score per test cell
    time_s: float = 0.0  # wall-clock seconds from the start of the kernel to its end
    peak_memory_mb: float = 0.0  # highest sum over the kernel and all processes below it, in 10^6 bytes
    num_ranks: int = 1  # the notebook's parameter of that name; 1 if it has none
    parameters: Mapping[str, Value] = field(default_factory=dict)  # every value that was passed to the notebook
    started: str = ""  # ISO 8601 with the offset from UTC; empty for a lab that was not run
    failed_cell: FailedCell | None = None  # the cell at which the lab stopped; None if it ran to its end
    raised: tuple[FailedCell, ...] = ()  # cells with errors after which the run continued, each error on one line
    facts: Facts | None = None  # machine, versions and commit of the run; None for a lab that was not run
    left_out: tuple[str, ...] = ()  # files next to the notebook that were not copied to its working folder, and why
    images_per_s: float = 0.0  # measured training speed of all ranks together; 0 if the lab measures none

    @property
    def points(self) -> float:
        """Points earned over all test cells."""
        return sum(score.points for score in self.scores)

    @property
    def max_points(self) -> float:
        """Points of the lab if every test passes."""
        return sum(score.max_points for score in self.scores)

    @property
    def lost(self) -> tuple[CellScore, ...]:
        """The test cells that did not pass, in the notebook's order."""
        return tuple(score for score in self.scores if not score.passed)

    @property
    def ran_to_its_end(self) -> bool:
        """Whether every cell ran, with or without errors."""
        return self.verdict in {PASSED, FAILED} and self.failed_cell is None

    @property
    def broken(self) -> tuple[str, ...]:
        """The number and name of each cell whose error is neither a failed test nor the message of a check."""
        tests = {score.grade_id for score in self.scores}
        return tuple(one.place for one in self.raised if one.name not in tests and not one.error.startswith(CHECK))

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values; it includes the sums of points, so that readers need not add them up."""
        return {**asdict(self), "points": self.points, "max_points": self.max_points}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LabResult:
        """Return the record that `to_json` wrote."""
        known = {one.name for one in fields(cls)}  # others are sums, or fields of an earlier version
        return replace(
            cls(**{name: value for name, value in data.items() if name in known}),
            scores=tuple(CellScore(**score) for score in data["scores"]),
            failed_cell=data["failed_cell"] and FailedCell(**data["failed_cell"]),
            raised=tuple(FailedCell(**cell) for cell in data.get("raised", ())),
            left_out=tuple(data.get("left_out", ())),
            facts=data["facts"] and Facts(**data["facts"]),
        )


def format_points(result: LabResult) -> str:
    """Return a result's points as text, such as "18 / 20", without needless decimals; "-" if it has no scores."""
    return f"{result.points:g} / {result.max_points:g}" if result.scores else NOTHING


def format_memory(memory_mb: float) -> str:
    """Return an amount of memory as text, such as "512 MB" or "1.23 GB"; "-" for 0."""
    if not memory_mb:
        return NOTHING
    return f"{memory_mb:.0f} MB" if memory_mb < MB_PER_GB else f"{memory_mb / MB_PER_GB:.2f} GB"


def format_time(time_s: float) -> str:
    """Return a time as text, such as "12.3 s" or "2 min 05 s"; "-" for 0."""
    if not time_s:
        return NOTHING
    if time_s < SECONDS_PER_MINUTE:
        return f"{time_s:.1f} s"
    minutes, seconds = divmod(round(time_s), SECONDS_PER_MINUTE)
    return f"{minutes} min {seconds:02} s"


def format_speed(images_per_s: float) -> str:
    """Return the images per second of all ranks together as text, such as "2410" or "61.5"; "-" for 0."""
    if not images_per_s:
        return NOTHING
    return f"{images_per_s:.0f}" if images_per_s >= WHOLE_FROM else f"{images_per_s:.3g}"
