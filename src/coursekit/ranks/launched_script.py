"""Functions for training scripts that a launcher (`horovodrun`, `mpirun`, `srun` or `torchrun`) has started."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from coursekit.errors import Cause

# Variables that launchers set to the number of tasks, innermost first, because mpirun may start its daemons with srun.
SIZES = ("HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")

# Ports for rank 0 of a PyTorch training script: they are below those that the kernel assigns to programs by itself.
FIRST_PORT, NUM_PORTS = 20_000, 10_000

# Names the file in which a training script notes its number of ranks for the job script.
NOTE_VARIABLE = "COURSEKIT_NUM_RANKS_FILE"


def begin_training() -> None:
    """Join the ranks of a training script; exit if Horovod has not joined all tasks that the launcher started.

    Without this check, each task would train alone, as rank 0 of 1, and all tasks would write to the same folder.
    """
    import horovod.tensorflow as hvd  # only ranks import it

    os.environ.pop("TF_CONFIG", None)  # it would make an Estimator a worker of that cluster
    hvd.init()
    names = (*SIZES, "SLURM_NTASKS") if "SLURM_STEP_ID" in os.environ else SIZES
    started = next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()), None)
    if started in {None, hvd.size()}:
        return
    if not hvd.mpi_built():
        cause = "this Horovod is built without MPI, which tasks of srun and mpirun need to find each other"
        remedy = "use one with MPI (make env, with mpicc on the PATH)"
    elif not hvd.mpi_enabled():
        cause = f"HOROVOD_CONTROLLER is {os.environ.get('HOROVOD_CONTROLLER', 'not set')}, without MPI"
        remedy = "unset HOROVOD_CONTROLLER and HOROVOD_CPU_OPERATIONS"
    elif "SLURM_STEP_ID" in os.environ:
        cause = "srun has not prepared the tasks for this Horovod's MPI"
        remedy = "choose another --mpi= for srun (srun --mpi=list shows them; Open MPI usually needs pmix, MPICH pmi2)"
    else:
        cause = "the launcher belongs to another MPI than this Horovod"
        remedy = "use the mpirun of the MPI that Horovod was built with"
    refused = Cause(
        f"{Path(sys.argv[0]).name}: {started} tasks were started, but Horovod has joined {hvd.size()}: each would "
        f"train alone and write into the same folder. The cause: {cause}. To fix this, {remedy}, or start it with "
        f"horovodrun -np {started}.",
        "horovod.tasks-not-joined",
    )
    sys.exit(str(refused))


def place_torch() -> None:
    """Set torchrun's variables for a training script that was started by srun or without a launcher."""
    environ = os.environ
    if "RANK" in environ:
        return
    in_step = "SLURM_STEP_ID" in environ
    names = {"RANK": ("SLURM_PROCID", "0"), "WORLD_SIZE": ("SLURM_STEP_NUM_TASKS", "1")}
    names |= {"LOCAL_RANK": ("SLURM_LOCALID", "0"), "MASTER_ADDR": ("SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1")}
    for name, (of_slurm, alone) in names.items():
        if not (in_step and name == "MASTER_ADDR" and name in environ):  # in a job step, users may choose the address
            environ[name] = environ.get(of_slurm, alone) if in_step else alone
    # Jobs that share a node have different numbers, and therefore different ports.
    environ.setdefault("MASTER_PORT", str(FIRST_PORT + int(environ.get("SLURM_JOB_ID", "0")) % NUM_PORTS))


def note_num_ranks(size: int) -> None:
    """If the job script has named a file for this purpose, record in it how many ranks have trained."""
    if path := os.environ.get(NOTE_VARIABLE):
        Path(path).write_text(f"{size}\n", encoding="utf-8")
