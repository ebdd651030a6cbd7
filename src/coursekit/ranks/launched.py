"""What is asked of the Horovod that is there: which one it is, what joins its ranks, and whether it has joined all."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from importlib import metadata
from pathlib import Path

from coursekit import STAMP
from coursekit.errors import Cause, CourseKitError

# How many tasks there are, as launchers tell each. The innermost comes first: mpirun may start its daemons by srun.
SIZES = ("HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")

# At which rank 0 of a training with PyTorch listens: below those that the kernel gives to programs by itself.
FIRST_PORT, NUM_PORTS = 20_000, 10_000

# Where a training notes the number of its ranks, for the job script around it.
NOTE_VARIABLE = "COURSEKIT_NUM_RANKS_FILE"

GLOO, MPI = "Gloo", "MPI"
# Names what the kit's ranks are to join by, "gloo" or "mpi", where Horovod has both: MPI knows a cluster's network.
CONTROLLER_VARIABLE = "COURSEKIT_CONTROLLER"
TAKE_ANOTHER = "run `make env`, which takes a C++ compiler and builds one with Gloo"
JOINS_NOBODY = Cause(
    f"this Horovod is built with neither Gloo nor MPI, so it cannot join ranks: {TAKE_ANOTHER}", "horovod.joins-nobody"
)


def controllers() -> list[str]:
    """Return what this Horovod can join ranks by: launchers start scripts with either."""
    import horovod.tensorflow as hvd  # who asks has it imported

    return [name for name, is_built in ((GLOO, hvd.gloo_built()), (MPI, hvd.mpi_built())) if is_built]


def controller() -> str:
    """Return by what the kit's ranks join: as `COURSEKIT_CONTROLLER` asks, or else by Gloo where it is built.

    Raises:
        CourseKitError: Horovod is built with nothing, or without what is asked for.
    """
    built, asked = controllers(), os.environ.get(CONTROLLER_VARIABLE, "")
    if not built:
        raise CourseKitError(*JOINS_NOBODY)
    wanted = [name for name in built if name.lower() == asked.lower()] if asked else built
    if not wanted:
        raise CourseKitError(
            f"COURSEKIT_CONTROLLER is {asked}, but this Horovod joins ranks by {' or '.join(built)}: unset it",
            "controller.not-built",
        )
    return wanted[0]


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


def horovod_build() -> str:
    """Return Horovod's version, and whether `make env` has changed it for ranks that share cores."""
    try:
        kind = json.loads(Path(sys.prefix, STAMP).read_text()).get("horovod")
    except FileNotFoundError:
        kind = None
    how = "changed for ranks that share cores" if kind == "fast" else "as released"
    return f"Horovod {metadata.version('horovod')}, {how}"


def spare_horovod() -> None:
    """Tell AutoGraph to take Horovod's functions as they are.

    AutoGraph rewrites every Python function that a trace meets into graph code; Horovod's need it nowhere, and it takes
    a good part of each first step. TensorFlow leaves its own functions out in the same way, by rules for modules; the
    functions that Horovod itself compiles have to be compiled without AutoGraph.
    These are not public interfaces: without them tracing just takes longer.
    """
    try:
        import tensorflow as tf  # TensorFlow is imported by ranks only
        from horovod import tensorflow as horovod  # the same
        from horovod.tensorflow import functions  # the same
        from tensorflow.python.autograph.core import config  # the same

        rules, rule = config.CONVERSION_RULES, config.DoNotConvert("horovod")
    except (ImportError, AttributeError):
        return
    config.CONVERSION_RULES = (rule, *rules)
    for module in (horovod, functions):
        if hasattr(module, "_make_subgraph"):
            module._make_subgraph = partial(tf.function, autograph=False)  # noqa: SLF001  # see above
