"""The Horovod that is there: how it was built, what joins its ranks, and how AutoGraph leaves it alone."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from importlib import metadata
from pathlib import Path

from coursekit import STAMP
from coursekit.errors import Cause, CourseKitError

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
