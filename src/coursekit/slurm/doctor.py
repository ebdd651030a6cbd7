"""The doctor: a list of small checks, each of which looks at one thing and says what it found.

Versions are those that this package asks for in its metadata, against those that are installed.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

import psutil
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from coursekit import STAMP
from coursekit.corrected_time import longest_wall_s
from coursekit.environ import host_name_fault, slurm_environ
from coursekit.labs.needs import OTHERS
from coursekit.paths import closed_to_others, shadowed
from coursekit.ranks.launched import MPI, TAKE_ANOTHER
from coursekit.ranks.mpi import NO_MPIRUN, mpirun
from coursekit.slurm import probe
from coursekit.slurm.probe import ask, probed

ASK_LIMIT_S = 60
ALLREDUCE_LIMIT_S = longest_wall_s(probe.LIMIT_S)  # the ranks keep their own limit, in their own time
SANDBOX = "coursekit.grading.isolation.sandbox"
GB = 10**9
# What one participant's runs, caches and notebooks take, with room to spare.
SPACE_NEEDED_GB = {"home": 1, "temporary files": 1, "course folder": 2}

MAKE_ENV = "run make env and use .venv/bin/coursekit"
WITH_GPUS = "COURSEKIT_GPUS=host make env takes what the package index has"
NCCL = "with GPUs: load CUDA 12 with cuDNN 8 and NCCL, and run COURSEKIT_GPUS=nccl make env"
THROUGH_HOST = "gradients of GPUs go through the host's memory, slower, with the same results"
WEAKNESSES = "CVE-2024-10190 in elastic training, CVE-2026-31234 in horovod.run"  # of 0.28.1, the last release
SAFER = "on nodes that other users reach, use neither, and start scripts by srun or mpirun"
DRIVER = "CUDA 12 takes a driver from 525 on (nvidia-smi shows yours), and CUDA_VISIBLE_DEVICES must not hide them"


class Finding(NamedTuple):
    """One line of the doctor's table: what was looked at, what was found, and what to do about it.

    "missing" is not there, "wrong" is there, but not as the labs need it; the labs can do without what is not needed.
    """

    name: str
    state: Literal["good", "missing", "wrong"]
    text: str
    remedy: str = ""
    needed: bool = True

    @property
    def hinders(self) -> bool:
        """Whether the labs cannot run before this is fixed."""
        return self.needed and self.state != "good"


optional = partial(Finding, needed=False)  # of what labs can do without


def required(name: str) -> list[SpecifierSet]:
    """Return the versions of a package that this package asks for, itself or in an extra; one of them will do."""
    requirements = (Requirement(line) for line in metadata.requires("coursekit") or ())
    return [requirement.specifier for requirement in requirements if requirement.name == name]


def wanted(title: str) -> list[SpecifierSet]:
    """Return the versions of TensorFlow, Keras or Horovod that the labs run on.

    Any patch release will do, since sites and conda build another one of the same TensorFlow.
    Keras must have TensorFlow's own version: Horovod does not work with Keras 3.
    """
    if title == "Horovod":
        return required("horovod")
    versions = [pin.version for exact in required("tensorflow-cpu") for pin in exact]
    if title == "Keras" and "version" in probed()["TensorFlow"]:
        versions = [probed()["TensorFlow"]["version"]]
    return [SpecifierSet("=={}.{}.*".format(*version.split("."))) for version in versions]


def compare(name: str, version: str, releases: Sequence[SpecifierSet]) -> Finding:
    """Return whether a version is one of those wanted."""
    if any(Version(version) in each for each in releases):
        return Finding(name, "good", version)
    text = f"{version}, but the labs need {' or '.join(map(str, releases))}"
    return Finding(name, "wrong", text, shadowed() or MAKE_ENV)


def check_python() -> Finding:
    """Say which Python runs this, since sites have many, and whether others can use it."""
    why = closed_to_others()
    return Finding("Python", "good", f"{platform.python_version()} ({sys.executable}{why and f'; {why}'})")


def check_packages() -> Finding:
    """Look whether others hide this environment's packages; where a site's modules do so on purpose, others may fit."""
    what, _, remedy = shadowed().rpartition(": ")
    if remedy:
        return Finding("Packages", "wrong", what, remedy, needed=Path(sys.prefix, STAMP).exists())
    return Finding("Packages", "good", f"those of {sys.prefix}")


def check_imported(title: str) -> Finding:
    """Look at TensorFlow, Keras or Horovod: not there, there and broken, or of some version."""
    facts = probed()[title]
    if "error" not in facts:
        return compare(title, facts["version"], wanted(title))
    text, is_there = f"cannot be imported: {facts['error']}", not facts["error"].startswith("ModuleNotFoundError")
    return Finding(title, "wrong" if is_there else "missing", text, shadowed() or MAKE_ENV)


def check_horovod() -> Finding:
    """Look at Horovod, and at how its ranks can find and hear each other; of two ways the labs use the first."""
    finding, controllers = check_imported("Horovod"), probed()["Horovod"].get("controllers", [])
    if finding.state != "good":
        return finding
    text = f"{finding.text}, with {' and '.join(controllers) or 'no controller'}"
    if not controllers:
        return Finding("Horovod", "wrong", text, shadowed() or TAKE_ANOTHER)
    if controllers == [MPI] and mpirun() is None:
        return Finding("Horovod", "wrong", f"{text}, but without mpirun", NO_MPIRUN)
    return Finding("Horovod", "good", text)


def check_weaknesses() -> Finding:
    """Name the published weaknesses of Horovod, in parts that the kit does not use."""
    return optional("Horovod's weaknesses", "good", f"{WEAKNESSES}: the kit uses neither", SAFER)


def check_gpu_operations() -> Finding:
    """Look at whether Horovod moves tensors between GPUs itself."""
    operations = probed()["Horovod"].get("gpu_operations", [])
    if operations:
        return optional("Horovod GPU operations", "good", " and ".join(operations))
    how = THROUGH_HOST if probed()["TensorFlow"].get("gpus") else "fine on CPUs"
    return optional("Horovod GPU operations", "missing", f"built without NCCL: {how}", NCCL)


def check_gpus() -> Finding:
    """Look at the GPUs that TensorFlow sees, and at those of the machine."""
    seen = probed()["TensorFlow"].get("gpus", [])
    answer = ask(["nvidia-smi", "-L"], ASK_LIMIT_S)
    num_present = sum(line.startswith("GPU ") for line in answer.output.splitlines()) if answer.status == 0 else 0
    if seen:
        return optional("GPUs", "good", f"TensorFlow sees {len(seen)} of {num_present}: {', '.join(seen)}")
    if num_present:
        has_cuda = probed()["TensorFlow"].get("with_cuda")
        why, remedy = (
            ("but TensorFlow sees none", DRIVER) if has_cuda else ("but TensorFlow is one for CPUs", WITH_GPUS)
        )
        return optional("GPUs", "wrong", f"the machine has {num_present}, {why}", remedy)
    return optional("GPUs", "missing", "none: ranks run on CPU cores", "none needed; a GPU node has some")


def check_pytorch() -> Finding:
    """Look at PyTorch by its metadata alone: its import takes seconds."""
    name, remedy = OTHERS["torch"]
    try:
        return optional(name, "good", metadata.version("torch"))
    except metadata.PackageNotFoundError:
        return optional(name, "missing", "not installed: labs that need it do not run here", remedy)


def check_slurm() -> Finding:
    """Look at Slurm's client programs and whether its controller answers."""
    if shutil.which("sinfo") is None:
        return optional("Slurm", "missing", "no sinfo on the PATH", "none needed outside a cluster")
    partitions = ask(["sinfo", "--noheader", "--format=%R"], ASK_LIMIT_S, slurm_environ())
    if partitions.status != 0:
        remedy = "ask the site, or try a login node"
        return optional("Slurm", "wrong", f"does not answer: {partitions.complaint}", remedy)
    names = ", ".join(sorted(set(partitions.output.split()))) or "none visible"
    return optional("Slurm", "good", f"partitions: {names}")


def check_allocation() -> Finding:
    """Look at the Slurm allocation around this process."""
    job_id = os.environ.get("SLURM_JOB_ID")
    if job_id is None:
        return optional("Allocation", "missing", "not inside a Slurm job", "none needed; salloc gives one")
    answer = ask(["squeue", "--noheader", f"--jobs={job_id}", "--format=%T"], ASK_LIMIT_S, slurm_environ())
    if (answer.status == 0 and not answer.output) or "Invalid job id" in answer.complaint:
        remedy = "start a job, or set COURSEKIT_RANKS=local for ranks on this machine"
        return optional("Allocation", "wrong", f"job {job_id}, which SLURM_JOB_ID names, has ended", remedy)
    return optional("Allocation", "good", f"job {job_id} with {os.environ.get('SLURM_NTASKS', '?')} tasks")


def check_sandbox() -> Finding:
    """Start the sandbox in which `coursekit grade` runs hand-ins, by a program that a students' copy does not have."""
    name = "Grading sandbox"
    if find_spec(SANDBOX.rpartition(".")[0]) is None:
        return optional(name, "missing", "not part of a students' copy", "none needed")
    answer = ask([sys.executable, "-m", SANDBOX], ASK_LIMIT_S)
    if answer.status != 0:
        return optional(name, "wrong" if shutil.which("bwrap") else "missing", answer.complaint)
    version = ask(["bwrap", "--version"], ASK_LIMIT_S).output
    return optional(name, "good", f"{version} starts it {'without' if os.getuid() else 'as'} root")


def check_node() -> Finding:
    """Look at the node's cores and memory, as this process may use them."""
    memory = psutil.virtual_memory()
    memory_gb = f"{memory.available / GB:.0f} of {memory.total / GB:.0f} GB memory free"
    cores = len(os.sched_getaffinity(0))
    return Finding("Node", "good", f"{platform.node()}: {cores} CPU cores for this process, {memory_gb}")


def check_space(title: str, folder: Path) -> Finding:
    """Look at the free space of a folder and whether it can be written."""
    name = f"Space, {title}"
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return Finding(name, "wrong", f"{folder} cannot be written", "choose another place or fix its permissions")
    free_gb = shutil.disk_usage(folder).free / GB
    text = f"{free_gb:.1f} GB free in {folder}"
    if free_gb >= SPACE_NEEDED_GB[title]:
        return Finding(name, "good", text)
    return Finding(name, "wrong", text, f"free {SPACE_NEEDED_GB[title]} GB or choose another place")


def check_allreduce() -> Finding:
    """Let two real ranks add numbers, and time it."""
    name = "Allreduce, 2 ranks"
    if not probed()["Horovod"].get("controllers", [MPI]):
        return Finding(name, "wrong", "not tried: Horovod joins no ranks", shadowed() or TAKE_ANOTHER)
    answer = ask([sys.executable, "-m", probe.__name__, "allreduce"], ALLREDUCE_LIMIT_S)
    if answer.status == 0:
        return Finding(name, "good", answer.output.splitlines()[-1])
    # A Horovod that was compiled elsewhere needs the host's name.
    return Finding(name, "wrong", answer.complaint, shadowed() or host_name_fault() or MAKE_ENV)


# In the order of the table, each with what is shown while it runs.
CHECKS: tuple[tuple[str, Callable[[], Finding]], ...] = (
    ("Python", check_python),
    ("Packages", check_packages),
    ("TensorFlow", partial(check_imported, "TensorFlow")),
    ("Keras", partial(check_imported, "Keras")),
    ("Horovod", check_horovod),
    ("Horovod's weaknesses", check_weaknesses),
    ("Horovod's GPU operations", check_gpu_operations),
    ("GPUs", check_gpus),
    ("PyTorch", check_pytorch),
    ("Slurm", check_slurm),
    ("the allocation", check_allocation),
    ("the grading sandbox", check_sandbox),
    ("the node", check_node),
    ("the home folder", lambda: check_space("home", Path.home())),
    ("temporary files", lambda: check_space("temporary files", Path(tempfile.gettempdir()))),
    ("the course folder", lambda: check_space("course folder", Path.cwd())),
    ("an allreduce between two ranks (a few seconds)", check_allreduce),
)


def examine(announce: Callable[[str], None]) -> Iterator[Finding]:
    """Run all checks in order; `announce` is told before each what is being looked at."""
    for subject, check in CHECKS:
        announce(subject)
        yield check()
