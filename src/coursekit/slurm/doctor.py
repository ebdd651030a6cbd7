"""The doctor: a list of small checks, each of which looks at one thing and reports what it has found.

It compares the installed versions with the versions that this package's metadata requires.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
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
from coursekit.ranks.horovod_build import MPI, TAKE_ANOTHER
from coursekit.ranks.mpi import NO_MPIRUN, mpirun
from coursekit.slurm import probe
from coursekit.slurm.probe import ask, probed

ASK_LIMIT_S = 60
ALLREDUCE_LIMIT_S = longest_wall_s(probe.LIMIT_S)  # the ranks have their own limit in corrected time
SANDBOX = "coursekit.grading.isolation.sandbox"
GB = 10**9

MAKE_ENV = "run make env and use .venv/bin/coursekit"
WITH_GPUS = "COURSEKIT_GPUS=host make env installs the TensorFlow for GPUs from the package index"
NCCL = "with GPUs: load CUDA 12 with cuDNN 8 and NCCL, and run COURSEKIT_GPUS=nccl make env"
THROUGH_HOST = "gradients on GPUs go through the host's memory, which is slower but gives the same results"
WEAKNESSES = "CVE-2024-10190 in elastic training, CVE-2026-31234 in horovod.run"  # of 0.28.1, the last release
SAFER = "on nodes that other users can reach, use neither, and start scripts with srun or mpirun"
DRIVER = "CUDA 12 needs driver 525 or later (nvidia-smi shows yours), and CUDA_VISIBLE_DEVICES must not hide GPUs"


class Found(NamedTuple):
    """The result of a check, and a remedy; a thing is "missing" if it is not there, "wrong" if labs cannot use it."""

    state: Literal["good", "missing", "wrong"]
    text: str
    remedy: str = ""


class Finding(NamedTuple):
    """One line of the doctor's table, about one thing; if the thing is not `needed`, the labs also run without it."""

    name: str
    state: str
    text: str
    remedy: str
    needed: bool

    @property
    def hinders(self) -> bool:
        """Whether this must be fixed before the labs can run."""
        return self.needed and self.state != "good"


def wanted(title: str) -> list[SpecifierSet]:
    """Return the versions of TensorFlow, Keras or Horovod that the labs run on, from this package's metadata.

    Any patch release is accepted, because sites and conda may build another patch release of the same TensorFlow.
    Keras must have the same version as TensorFlow, because Horovod does not work with Keras 3.
    """
    name = "horovod" if title == "Horovod" else "tensorflow-cpu"
    requirements = map(Requirement, metadata.requires("coursekit") or ())
    pins = [one.specifier for one in requirements if one.name == name]
    if title == "Horovod":
        return pins
    versions = [pin.version for exact in pins for pin in exact]
    if title == "Keras" and "version" in probed()["TensorFlow"]:
        versions = [probed()["TensorFlow"]["version"]]
    return [SpecifierSet("=={}.{}.*".format(*version.split("."))) for version in versions]


def check_python() -> Found:
    """Report which Python is running, because sites have several, and whether other accounts can use it."""
    why = closed_to_others()
    return Found("good", f"{platform.python_version()} ({sys.executable}{why and f'; {why}'})")


def check_packages() -> Found:
    """Check whether other packages hide packages of this environment."""
    what, _, remedy = shadowed().rpartition(": ")
    return Found("wrong", what, remedy) if remedy else Found("good", f"those of {sys.prefix}")


def check_imported(title: str) -> Found:
    """Check whether TensorFlow, Keras or Horovod is installed, can be imported, and has the right version."""
    facts = probed()[title]
    if "error" in facts:
        is_there = not facts["error"].startswith("ModuleNotFoundError")
        text = f"cannot be imported: {facts['error']}"
        return Found("wrong" if is_there else "missing", text, shadowed() or MAKE_ENV)
    version, releases = facts["version"], wanted(title)
    if any(Version(version) in each for each in releases):
        return Found("good", version)
    text = f"{version}, but the labs need {' or '.join(map(str, releases))}"
    return Found("wrong", text, shadowed() or MAKE_ENV)


def check_horovod() -> Found:
    """Check Horovod, and through which controllers its ranks can communicate; if there are two, labs use the first."""
    found, controllers = check_imported("Horovod"), probed()["Horovod"].get("controllers", [])
    if found.state != "good":
        return found
    text = f"{found.text}, with {' and '.join(controllers) or 'no controller'}"
    if not controllers:
        return Found("wrong", text, shadowed() or TAKE_ANOTHER)
    if controllers == [MPI] and mpirun() is None:
        return Found("wrong", f"{text}, but without mpirun", NO_MPIRUN)
    return Found("good", text)


def check_weaknesses() -> Found:
    """List Horovod's published vulnerabilities; the kit does not use the parts that they affect."""
    return Found("good", f"{WEAKNESSES}: the kit uses neither", SAFER)


def check_gpu_operations() -> Found:
    """Check whether Horovod itself moves tensors between GPUs."""
    if operations := probed()["Horovod"].get("gpu_operations", []):
        return Found("good", " and ".join(operations))
    how = THROUGH_HOST if probed()["TensorFlow"].get("gpus") else "fine on CPUs"
    return Found("missing", f"built without NCCL: {how}", NCCL)


def check_gpus() -> Found:
    """Compare the GPUs that TensorFlow sees with the GPUs in the machine."""
    tensorflow, answer = probed()["TensorFlow"], ask(["nvidia-smi", "-L"], ASK_LIMIT_S)
    num_present = sum(line.startswith("GPU ") for line in answer.output.splitlines()) if answer.status == 0 else 0
    if seen := tensorflow.get("gpus", []):
        return Found("good", f"TensorFlow sees {len(seen)} of {num_present}: {', '.join(seen)}")
    if not num_present:
        return Found("missing", "none: ranks run on CPU cores", "none needed; GPU nodes have some")
    if tensorflow.get("with_cuda"):
        return Found("wrong", f"the machine has {num_present}, but TensorFlow sees none", DRIVER)
    return Found("wrong", f"the machine has {num_present}, but TensorFlow is one for CPUs", WITH_GPUS)


def check_pytorch() -> Found:
    """Find out from its metadata whether PyTorch is installed, because importing it takes seconds."""
    try:
        return Found("good", metadata.version("torch"))
    except metadata.PackageNotFoundError:
        return Found("missing", "not installed: labs that need it do not run here", OTHERS["torch"][1])


def check_slurm() -> Found:
    """Check Slurm's client programs, and whether its controller answers."""
    if shutil.which("sinfo") is None:
        return Found("missing", "no sinfo on the PATH", "not needed outside a cluster")
    partitions = ask(["sinfo", "--noheader", "--format=%R"], ASK_LIMIT_S, slurm_environ())
    if partitions.status != 0:
        return Found("wrong", f"does not answer: {partitions.complaint}", "ask the site's support, or try a login node")
    return Found("good", f"partitions: {', '.join(sorted(set(partitions.output.split()))) or 'none visible'}")


def check_allocation() -> Found:
    """Check the Slurm allocation that this process runs in."""
    job_id = os.environ.get("SLURM_JOB_ID")
    if job_id is None:
        return Found("missing", "not inside a Slurm job", "not needed; salloc gives you one")
    answer = ask(["squeue", "--noheader", f"--jobs={job_id}", "--format=%T"], ASK_LIMIT_S, slurm_environ())
    if (answer.status == 0 and not answer.output) or "Invalid job id" in answer.complaint:
        remedy = "start a job, or set COURSEKIT_RANKS=local for ranks on this machine"
        return Found("wrong", f"job {job_id}, which SLURM_JOB_ID names, has ended", remedy)
    return Found("good", f"job {job_id} with {os.environ.get('SLURM_NTASKS', '?')} tasks")


def check_sandbox() -> Found:
    """Start the sandbox in which `coursekit grade` runs hand-ins; students' copies do not contain it."""
    if find_spec(SANDBOX.rpartition(".")[0]) is None:
        return Found("missing", "not part of a students' copy", "not needed")
    answer = ask([sys.executable, "-m", SANDBOX], ASK_LIMIT_S)
    if answer.status != 0:
        return Found("wrong" if shutil.which("bwrap") else "missing", answer.complaint)
    version = ask(["bwrap", "--version"], ASK_LIMIT_S).output
    return Found("good", f"{version} starts it {'without' if os.getuid() else 'as'} root")


def check_node() -> Found:
    """Report the node's memory, and the cores that this process may use."""
    memory, cores = psutil.virtual_memory(), len(os.sched_getaffinity(0))
    free = f"{memory.available / GB:.0f} of {memory.total / GB:.0f} GB memory free"
    return Found("good", f"{platform.node()}: {cores} CPU cores for this process, {free}")


def check_space(folder: Path, needed_gb: int) -> Found:
    """Check whether a folder is writable and has enough free space."""
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return Found("wrong", f"{folder} cannot be written", "choose another place or fix its permissions")
    free_gb = shutil.disk_usage(folder).free / GB
    text = f"{free_gb:.1f} GB free in {folder}"
    return Found("good", text) if free_gb >= needed_gb else Found("wrong", text, f"free {needed_gb} GB there")


def check_allreduce() -> Found:
    """Start two real ranks that add numbers, and measure how long this takes."""
    if not probed()["Horovod"].get("controllers", [MPI]):
        return Found("wrong", "not tried: Horovod cannot connect ranks", shadowed() or TAKE_ANOTHER)
    answer = ask([sys.executable, "-m", probe.__name__, "allreduce"], ALLREDUCE_LIMIT_S)
    if answer.status == 0:
        return Found("good", answer.output.splitlines()[-1])
    # A Horovod that `make env` did not compile needs a host name that resolves.
    return Found("wrong", answer.complaint, shadowed() or host_name_fault() or MAKE_ENV)


# The checks in the order of the table, each with its name, whether the labs need the thing, and its function.
CHECKS: tuple[tuple[str, bool, Callable[[], Found]], ...] = (
    ("Python", True, check_python),
    ("Packages", Path(sys.prefix, STAMP).exists(), check_packages),  # elsewhere, modules may hide them on purpose
    ("TensorFlow", True, partial(check_imported, "TensorFlow")),
    ("Keras", True, partial(check_imported, "Keras")),
    ("Horovod", True, check_horovod),
    ("Horovod's weaknesses", False, check_weaknesses),
    ("Horovod GPU operations", False, check_gpu_operations),
    ("GPUs", False, check_gpus),
    ("PyTorch", False, check_pytorch),
    ("Slurm", False, check_slurm),
    ("Allocation", False, check_allocation),
    ("Grading sandbox", False, check_sandbox),
    ("Node", True, check_node),
    # Enough for one participant's runs, caches and notebooks, with room to spare.
    ("Space, home", True, lambda: check_space(Path.home(), 1)),
    ("Space, temporary files", True, lambda: check_space(Path(tempfile.gettempdir()), 1)),
    ("Space, course folder", True, lambda: check_space(Path.cwd(), 2)),
    ("Allreduce, 2 ranks", True, check_allreduce),
)


def examine(announce: Callable[[str], None]) -> Iterator[Finding]:
    """Run all checks in order; `announce` is called with the name of each check before it runs."""
    for name, needed, check in CHECKS:
        announce(name)
        yield Finding(name, *check(), needed)
