"""Whether Horovod has joined the tasks that a launcher has started: else each trains alone, as rank 0 of 1."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from coursekit.ranks.errors import RankError

# How many tasks there are, as launchers tell each. The innermost comes first: mpirun may start its daemons by srun.
SIZES = ("HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")

# Where a training notes the number of its ranks, for the job script around it.
NOTE_VARIABLE = "COURSEKIT_NUM_RANKS_FILE"


def num_tasks(environ: Mapping[str, str]) -> int | None:
    """Return how many tasks a launcher has started beside this one, with it; None where there is no launcher."""
    names = (*SIZES, "SLURM_NTASKS") if "SLURM_STEP_ID" in environ else SIZES
    return next((int(environ[name]) for name in names if environ.get(name, "").isdigit()), None)


def check_joined() -> int:
    """Return how many ranks Horovod has joined, which must have been initialised.

    Raises:
        RankError: they are not the tasks that the launcher has started.
    """
    import horovod.tensorflow as hvd  # belongs to the ranks only

    started, size = num_tasks(os.environ), int(hvd.size())
    if started is None or started == size:
        return size
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
    raise RankError(
        f"{started} tasks were started, but Horovod has joined {size}: each would train alone and write into the "
        f"same folder. The cause: {cause}. Ways out: {remedy}, or start it by horovodrun -np {started}."
    )


def begin_training() -> None:
    """Join the ranks of a training's script, or end the script before it writes anything."""
    import horovod.tensorflow as hvd

    hvd.init()
    try:
        check_joined()
    except RankError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")


def note_num_ranks(size: int) -> None:
    """Note how many ranks have trained, where a job script asks for it."""
    if path := os.environ.get(NOTE_VARIABLE):
        Path(path).write_text(f"{size}\n", encoding="utf-8")
