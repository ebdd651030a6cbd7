"""The doctor: a list of small checks, each of which looks at one thing and says what it found.

Here are those of the machine: MPI, GPUs, Slurm, the node and its free space, and Horovod at work on it.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil

from coursekit.errors import CourseKitError
from coursekit.files import faults_of_exchange
from coursekit.paths import find_root, shadowed
from coursekit.ranks.environ import host_name_fault, slurm_environ
from coursekit.ranks.own_time import longest_wall_s
from coursekit.slurm.doctor import allreduce
from coursekit.slurm.doctor.findings import (
    MAKE_ENV,
    Finding,
    ask,
    check_imported,
    check_package,
    check_python,
    not_imported,
    probe,
)

ASK_LIMIT_S = 60
ALLREDUCE_LIMIT_S = longest_wall_s(allreduce.LIMIT_S)  # the ranks keep their own limit, in their own time
ALLREDUCE = f"Allreduce, {allreduce.NUM_RANKS} ranks"
GB = 10**9
# What one participant's runs, caches and notebooks take, with room to spare.
SPACE_NEEDED_GB = {"home": 1, "temporary files": 1, "course folder": 2}
ALLOCATION_VARIABLES = (
    "SLURM_JOB_PARTITION",
    "SLURM_JOB_ACCOUNT",
    "SLURM_JOB_NUM_NODES",
    "SLURM_NTASKS",
    "SLURM_JOB_GPUS",
)

WITH_GPUS = "COURSEKIT_GPUS=host make env takes what the package index has"
NCCL = "with GPUs: load CUDA 12 with cuDNN 8 and NCCL, and run COURSEKIT_GPUS=nccl make env"
THROUGH_HOST = "gradients of GPUs go through the host's memory, slower, with the same results"
DRIVER = "CUDA 12 takes a driver from 525 on (nvidia-smi shows yours), and CUDA_VISIBLE_DEVICES must not hide them"

optional = partial(Finding, needed=False)  # of what labs can do without


def check_controllers() -> Finding:
    """Look at how Horovod's ranks can find and hear each other; Gloo is what the labs use without a launcher."""
    facts = probe("horovod")
    if "error" in facts:
        return not_imported("Horovod controllers", facts["error"])
    text = " and ".join(facts["controllers"]) or "none"
    if "Gloo" in facts["controllers"]:
        return Finding("Horovod controllers", "good", text)
    return Finding("Horovod controllers", "wrong", f"{text}, but the labs need Gloo", MAKE_ENV)


def check_gpu_operations() -> Finding:
    """Look at whether Horovod moves tensors between GPUs itself."""
    operations = probe("horovod").get("gpu_operations", [])
    if operations:
        return optional("Horovod GPU operations", "good", " and ".join(operations))
    seen = probe("tensorflow").get("gpus")
    how = THROUGH_HOST if seen else "fine on CPUs"
    return optional("Horovod GPU operations", "missing", f"built without NCCL: {how}", NCCL)


def check_mpi() -> Finding:
    """Look at the MPI on the PATH and whether Horovod was built with one."""
    mpirun = shutil.which("mpirun")
    built = "MPI" in probe("horovod").get("controllers", [])
    if mpirun is None:
        return optional("MPI", "missing", "no mpirun on the PATH", "load the site's MPI module if it has one")
    answer = ask([mpirun, "--version"], ASK_LIMIT_S)
    if answer.status != 0:
        return optional("MPI", "wrong", f"{mpirun} does not run: {answer.complaint}", "load another MPI")
    text = answer.output.splitlines()[0] if answer.output else mpirun
    if built:
        return optional("MPI", "good", text)
    return optional("MPI", "wrong", f"{text}, but Horovod was built without it", "make env, with mpicc there")


def check_gpus() -> Finding:
    """Look at the GPUs that TensorFlow sees, and at those of the machine."""
    seen = probe("tensorflow").get("gpus", [])
    answer = ask(["nvidia-smi", "-L"], ASK_LIMIT_S)
    num_present = sum(line.startswith("GPU ") for line in answer.output.splitlines()) if answer.status == 0 else 0
    if seen:
        return optional("GPUs", "good", f"TensorFlow sees {len(seen)} of {num_present}: {', '.join(seen)}")
    if num_present and probe("tensorflow").get("with_cuda"):
        return optional("GPUs", "wrong", f"the machine has {num_present}, but TensorFlow sees none", DRIVER)
    if num_present:
        return optional("GPUs", "wrong", f"the machine has {num_present}, but TensorFlow is one for CPUs", WITH_GPUS)
    return optional("GPUs", "missing", "none: ranks run on CPU cores", "none needed; a GPU node has some")


def check_slurm() -> Finding:
    """Look at Slurm's client programs and whether its controller answers."""
    for program in ("srun", "sinfo"):
        if shutil.which(program) is None:
            return optional("Slurm", "missing", f"no {program} on the PATH", "none needed outside a cluster")
    version = ask(["srun", "--version"], ASK_LIMIT_S, slurm_environ())
    partitions = ask(["sinfo", "--noheader", "--format=%R"], ASK_LIMIT_S, slurm_environ())
    if version.status != 0 or partitions.status != 0:
        complaint = (version if version.status != 0 else partitions).complaint
        return optional("Slurm", "wrong", f"does not answer: {complaint}", "ask the site, or try a login node")
    names = ", ".join(sorted(set(partitions.output.split()))) or "none visible"
    return optional("Slurm", "good", f"{version.output}; partitions: {names}")


def check_node() -> Finding:
    """Look at the node's cores and memory, as this process may use them."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = psutil.virtual_memory()
    memory_gb = f"{memory.available / GB:.0f} of {memory.total / GB:.0f} GB memory free"
    return Finding("Node", "good", f"{platform.node()}: {cores} CPU cores for this process, {memory_gb}")


def check_allocation() -> Finding:
    """Look at the Slurm allocation around this process."""
    job_id = os.environ.get("SLURM_JOB_ID")
    if job_id is None:
        return optional("Allocation", "missing", "not inside a Slurm job", "none needed; salloc gives one")
    found = [f"{name[6:].lower()} {os.environ[name]}" for name in ALLOCATION_VARIABLES if name in os.environ]
    words = ["squeue", "--noheader", f"--jobs={job_id}", "--format=%T"]
    answer = ask(words, ASK_LIMIT_S, slurm_environ())
    if (answer.status == 0 and not answer.output) or "Invalid job id" in answer.complaint:
        remedy = "start a job, or set COURSEKIT_RANKS=local for ranks on this machine"
        return optional("Allocation", "wrong", f"job {job_id}, which SLURM_JOB_ID names, has ended", remedy)
    return optional("Allocation", "good", ", ".join([f"job {job_id}", *found]))


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


def check_course_folder() -> Finding:
    """Look at the space around the labs: the checkout, or the folder this is called in."""
    try:
        return check_space("course folder", find_root())
    except CourseKitError:
        return check_space("course folder", Path.cwd())


def check_exchange() -> Finding:
    """Look at whether accounts can replace what lies in the exchange of the checkout's course."""
    try:
        exchange = find_root() / "course" / "exchange"
    except CourseKitError:
        exchange = Path("exchange")
    if not exchange.is_dir():
        return optional("Exchange", "missing", "no course folder here", "none needed; coursekit course init makes one")
    names = [folder.name for folder in exchange.iterdir()]
    if faults := list(faults_of_exchange(exchange, names)):
        return optional("Exchange", "wrong", "; ".join(faults), "coursekit course init sets sticky bits")
    return optional("Exchange", "good", f"{exchange}: only owners can move what is in it")


def check_allreduce() -> Finding:
    """Let two real ranks add numbers, and time it."""
    answer = ask([sys.executable, "-m", "coursekit.slurm.doctor.allreduce"], ALLREDUCE_LIMIT_S)
    if answer.status is None or not answer.output.startswith("{"):
        # A Horovod that was compiled elsewhere needs the host's name.
        return Finding(ALLREDUCE, "wrong", answer.complaint, shadowed() or host_name_fault() or MAKE_ENV)
    measured = json.loads(answer.output.splitlines()[-1])
    sums = [rank["sum"] for rank in measured["ranks"]]
    if sums != [allreduce.expected_sum()] * allreduce.NUM_RANKS:
        return Finding(ALLREDUCE, "wrong", f"the ranks got the sums {sums}, not {allreduce.expected_sum()}", MAKE_ENV)
    milliseconds = max(rank["allreduce_ms"] for rank in measured["ranks"])
    took = f"{milliseconds:.1f} ms for {allreduce.MESSAGE_MB} MB"
    return Finding(ALLREDUCE, "good", f"{took}; {measured['launch_s']:.1f} s from cold start to results")


# In the order of the table, each with what is shown while it runs.
CHECKS: tuple[tuple[str, Callable[[], Finding]], ...] = (
    ("Python", check_python),
    ("TensorFlow", lambda: check_imported("TensorFlow", probe("tensorflow"))),
    ("Keras", lambda: check_imported("Keras", probe("keras"))),
    ("Horovod", lambda: check_imported("Horovod", probe("horovod"))),
    ("JupyterLab", partial(check_package, "jupyterlab", "JupyterLab")),
    ("nbgrader", partial(check_package, "nbgrader", "nbgrader")),
    ("papermill", partial(check_package, "papermill", "papermill")),
    ("Horovod's controllers", check_controllers),
    ("Horovod's GPU operations", check_gpu_operations),
    ("MPI", check_mpi),
    ("GPUs", check_gpus),
    ("Slurm", check_slurm),
    ("the node", check_node),
    ("the allocation", check_allocation),
    ("the home folder", lambda: check_space("home", Path.home())),
    ("temporary files", lambda: check_space("temporary files", Path(tempfile.gettempdir()))),
    ("the course folder", check_course_folder),
    ("the exchange", check_exchange),
    ("an allreduce between two ranks (a few seconds)", check_allreduce),
)


def examine(announce: Callable[[str], None] = lambda _: None) -> Iterator[Finding]:
    """Run all checks in order; `announce` is told before each what is being looked at."""
    for subject, check in CHECKS:
        announce(subject)
        yield check()
