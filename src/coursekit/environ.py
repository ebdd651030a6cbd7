"""Make environments, without harmful variables, for the kernels, ranks and Slurm commands that the kit starts."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

from coursekit.processes import MARK

# Variables of a surrounding launcher. A program started with them believes that it is part of that launcher's job:
# mpirun refuses to start inside mpirun, and a single process thinks that it is rank 3 of 8.
LAUNCHER_PREFIXES = ("HOROVOD_", "OMPI_", "PMIX_", "PMI_", "PMI2_", "PRTE_", "HYDRA_", "MPI_LOCAL")  # Open MPI, MPICH

# Variables that change how TensorFlow 2 behaves. TF_CONFIG makes an Estimator a worker of some other cluster.
# TF_USE_LEGACY_KERAS is not among them, because importing this package sets or removes it (`coursekit/__init__.py`).
TENSORFLOW_PREFIXES = ("TF_CONFIG", "TF2_BEHAVIOR", "KERAS_BACKEND", "TF_KERAS")

HIDE_GPUS = {"CUDA_VISIBLE_DEVICES": "-1"}


def scrubbed(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a copy of the environment without variables that a launcher set or that change TensorFlow's behaviour."""
    source = os.environ if environ is None else environ
    unwanted = (*LAUNCHER_PREFIXES, *TENSORFLOW_PREFIXES)
    return {name: value for name, value in source.items() if not name.startswith(unwanted)}


def host_name_fault() -> str:
    """Return a message that says why Horovod and other nodes cannot find this machine by its name; '' if they can."""
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
    """Return an environment for a kernel, without launcher variables and with a mark that names the kernel's folder."""
    # With a separate profile, the start-up files of the person who runs the lab cannot change its result.
    return {**scrubbed(), MARK: str(folder), "IPYTHONDIR": str(folder / ".ipython")}


# Prefixes of variables that Slurm's commands read. Nearly every option of every command has a variable. So a variable
# that was set for one purpose may also change what a job inherits from the job around it, how times are shown, whose
# jobs are listed, or which environment a step gets. Therefore, only the variables listed below are passed on.
OF_SLURM = (
    *("SLURM_", "SLURMD_", "SRUN_", "SBATCH_", "SALLOC_", "SQUEUE_", "SACCT_", "SCONTROL_", "SINFO_", "SCANCEL_"),
    "COURSEKIT_STEP",
)
# These say where the controller is, and prove the user's identity.
EVERYWHERE = ("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_SACK_JWKS", "SLURM_SACK_KEY")
# These say who pays for a new job, where it runs, and which resources it gets: users set them on purpose.
FOR_SBATCH = (
    *("SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION", "SBATCH_PARTITION", "SBATCH_CLUSTERS", "SBATCH_WCKEY"),
    *("SBATCH_CONSTRAINT", "SBATCH_TIMELIMIT", "SBATCH_GPUS_PER_NODE", "SBATCH_MEM_PER_NODE"),
)
# These say in which job a step starts, which cores it gets (whole cores if there is a hint), and how MPI is started.
FOR_SRUN = (
    *("SLURM_JOBID", "SLURM_HINT", "SLURM_THREADS_PER_CORE", "SRUN_CPUS_PER_TASK"),
    *("SLURM_MPI_TYPE", "SLURM_NETWORK"),
)
FOR_SRUN_PREFIXES = ("SLURM_JOB_", "SLURM_PMIX_")


def slurm_environ(also: tuple[str, ...] = (), prefixes: tuple[str, ...] = ()) -> dict[str, str]:
    """Return an environment for Slurm's commands, without launcher variables and without most of Slurm's own variables.

    `also` and `prefixes` name variables of Slurm to keep: use `FOR_SBATCH` to submit a job, and `FOR_SRUN` with
    `FOR_SRUN_PREFIXES` to start a step of the job in which this process runs. If this process itself runs in a step,
    the options of that step are not kept.
    """
    names = {*EVERYWHERE, *also}
    return {
        name: value
        for name, value in scrubbed().items()
        if not name.startswith(OF_SLURM) or name in names or name.startswith(prefixes)
    }
