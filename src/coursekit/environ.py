"""The environment of what the kit starts, kernels, ranks and Slurm's commands: what must not leak into it."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

from coursekit.processes import MARK

# Variables of a surrounding launcher. A program started with them believes to be a part of that launcher's job:
# mpirun refuses to start inside mpirun, and a lone process takes itself for rank 3 of 8.
LAUNCHER_PREFIXES = ("HOROVOD_", "OMPI_", "PMIX_", "PMI_", "PMI2_", "PRTE_", "HYDRA_", "MPI_LOCAL")  # Open MPI, MPICH

# Variables that turn TensorFlow 2 into another one. TF_CONFIG makes an Estimator a worker of some other cluster.
# TF_USE_LEGACY_KERAS is not among them: the package decides on it when it is imported (`coursekit/__init__.py`).
TENSORFLOW_PREFIXES = ("TF_CONFIG", "TF2_BEHAVIOR", "KERAS_BACKEND", "TF_KERAS")

HIDE_GPUS = {"CUDA_VISIBLE_DEVICES": "-1"}


def scrubbed(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a copy of the environment without what a launcher has set, and without what makes another TensorFlow."""
    source = os.environ if environ is None else environ
    unwanted = (*LAUNCHER_PREFIXES, *TENSORFLOW_PREFIXES)
    return {name: value for name, value in source.items() if not name.startswith(unwanted)}


def host_name_fault() -> str:
    """Return in words what keeps Horovod and other nodes from finding this machine by its name, or ''."""
    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        return f"the host name {name!r} does not resolve: add '127.0.1.1 {name}' to /etc/hosts"
    try:
        with socket.socket() as probe:
            probe.bind((address, 0))
    except OSError:
        return f"the host name {name!r} resolves to {address}, which is no address of this machine: see /etc/hosts"
    return ""


def kernel_environment(folder: Path) -> dict[str, str]:
    """Return this process's environment for a kernel: without launchers' variables, marked with its folder."""
    # A profile of its own: start-up files of the person who runs the lab must not change its result.
    return {**scrubbed(), MARK: str(folder), "IPYTHONDIR": str(folder / ".ipython")}


# Which of the caller's Slurm variables reach Slurm's own commands. Nearly every option of every command has a variable,
# so that what is set for one purpose changes another: what a job inherits from a job around it, how times are shown,
# whose jobs are listed, what a step may know of its environment. Hence none passes but those that are listed below.
OF_SLURM = (
    *("SLURM_", "SLURMD_", "SRUN_", "SBATCH_", "SALLOC_", "SQUEUE_", "SACCT_", "SCONTROL_", "SINFO_", "SCANCEL_"),
    "COURSEKIT_STEP",
)
# Where the controller is, and how one proves who one is.
EVERYWHERE = ("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_SACK_JWKS", "SLURM_SACK_KEY")
# Who pays for a new job, where it runs, and how much it gets: people set these on purpose.
FOR_SBATCH = (
    *("SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION", "SBATCH_PARTITION", "SBATCH_CLUSTERS", "SBATCH_WCKEY"),
    *("SBATCH_CONSTRAINT", "SBATCH_TIMELIMIT", "SBATCH_GPUS_PER_NODE", "SBATCH_MEM_PER_NODE"),
)
# The job in which a step starts; its cores, which are whole ones where it has a hint; how sites start MPI.
FOR_SRUN = (
    *("SLURM_JOBID", "SLURM_HINT", "SLURM_THREADS_PER_CORE", "SRUN_CPUS_PER_TASK"),
    *("SLURM_MPI_TYPE", "SLURM_NETWORK"),
)
FOR_SRUN_PREFIXES = ("SLURM_JOB_", "SLURM_PMIX_")


def slurm_environ(also: tuple[str, ...] = (), prefixes: tuple[str, ...] = ()) -> dict[str, str]:
    """Return this process's environment for commands that ask Slurm: without launchers, and few of Slurm's variables.

    `also` and `prefixes` name those that pass besides: `FOR_SBATCH` for a new job, `FOR_SRUN` and its prefixes for a
    step of the job around this process, without options of a step that this process may be a task of.
    """
    names = {*EVERYWHERE, *also}
    return {
        name: value
        for name, value in scrubbed().items()
        if not name.startswith(OF_SLURM) or name in names or name.startswith(prefixes)
    }
