"""What a training's script calls where a launcher has started it: `horovodrun`, `mpirun`, `srun` or `torchrun`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from coursekit.errors import Cause

# How many tasks there are, as launchers tell each. The innermost comes first: mpirun may start its daemons by srun.
SIZES = ("HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")

# At which rank 0 of a training with PyTorch listens: below those that the kernel gives to programs by itself.
FIRST_PORT, NUM_PORTS = 20_000, 10_000

# Where a training notes the number of its ranks, for the job script around it.
NOTE_VARIABLE = "COURSEKIT_NUM_RANKS_FILE"


def begin_training() -> None:
    """Join the ranks of a training's script; end it if Horovod has not joined all tasks that a launcher has started.

    Each would train alone, as rank 0 of 1, and write into the same folder.
    """
    import horovod.tensorflow as hvd  # belongs to the ranks only

    os.environ.pop("TF_CONFIG", None)  # an Estimator would take itself for a worker of that cluster
    hvd.init()
    names = (*SIZES, "SLURM_NTASKS") if "SLURM_STEP_ID" in os.environ else SIZES
    started = next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()), None)
    if started in {None, hvd.size()}:
        return
    if not hvd.mpi_built():
        cause = "this Horovod is built without MPI, through which tasks of srun and mpirun find each other"
        remedy = "take one with MPI (make env, with mpicc on the PATH)"
    elif not hvd.mpi_enabled():
        cause = f"HOROVOD_CONTROLLER is {os.environ.get('HOROVOD_CONTROLLER', 'not set')}, without MPI"
        remedy = "unset HOROVOD_CONTROLLER and HOROVOD_CPU_OPERATIONS"
    elif "SLURM_STEP_ID" in os.environ:
        cause = "srun has not prepared the tasks for the MPI of this Horovod"
        remedy = "choose another --mpi= for srun (srun --mpi=list shows them; Open MPI mostly needs pmix, MPICH pmi2)"
    else:
        cause = "the launcher belongs to another MPI than this Horovod"
        remedy = "take the mpirun of the MPI that Horovod was built with"
    refused = Cause(
        f"{Path(sys.argv[0]).name}: {started} tasks were started, but Horovod has joined {hvd.size()}: each would "
        f"train alone and write into the same folder. The cause: {cause}. Ways out: {remedy}, or start it by "
        f"horovodrun -np {started}.",
        "horovod.tasks-not-joined",
    )
    sys.exit(str(refused))


def place_torch() -> None:
    """Tell a training's script where it is, by the names of torchrun, if srun has started it, or nobody."""
    environ = os.environ
    if "RANK" in environ:
        return
    in_step = "SLURM_STEP_ID" in environ
    names = {"RANK": ("SLURM_PROCID", "0"), "WORLD_SIZE": ("SLURM_STEP_NUM_TASKS", "1")}
    names |= {"LOCAL_RANK": ("SLURM_LOCALID", "0"), "MASTER_ADDR": ("SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1")}
    for name, (of_slurm, alone) in names.items():
        if not (in_step and name == "MASTER_ADDR" and name in environ):  # that of a step can be chosen by its user
            environ[name] = environ.get(of_slurm, alone) if in_step else alone
    # Jobs that share a node have different numbers.
    environ.setdefault("MASTER_PORT", str(FIRST_PORT + int(environ.get("SLURM_JOB_ID", "0")) % NUM_PORTS))


def note_num_ranks(size: int) -> None:
    """Note how many ranks have trained, where a job script asks for it."""
    if path := os.environ.get(NOTE_VARIABLE):
        Path(path).write_text(f"{size}\n", encoding="utf-8")
