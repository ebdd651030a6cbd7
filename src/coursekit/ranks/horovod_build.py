"""Find out how Horovod was built and whether Gloo or MPI joins its ranks, and keep AutoGraph away from it."""

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
# If Horovod has both, this variable says whether "gloo" or "mpi" joins ranks; MPI can use a cluster's fast network.
CONTROLLER_VARIABLE = "COURSEKIT_CONTROLLER"
TAKE_ANOTHER = "run `make env`, which needs a C++ compiler and builds one with Gloo"
JOINS_NOBODY = Cause(
    f"this Horovod is built with neither Gloo nor MPI, so it cannot join ranks: {TAKE_ANOTHER}", "horovod.joins-nobody"
)


def controllers() -> list[str]:
    """Return which of Gloo and MPI this Horovod is built with; launchers of scripts need at least one of them."""
    import horovod.tensorflow as hvd  # the caller has already imported it

    return [name for name, is_built in ((GLOO, hvd.gloo_built()), (MPI, hvd.mpi_built())) if is_built]


def controller() -> str:
    """Return whether Gloo or MPI joins the kit's ranks.

    `COURSEKIT_CONTROLLER` may choose one of them. By default, it is Gloo if Horovod has Gloo, and otherwise MPI.

    Raises:
        CourseKitError: Horovod is built with neither, or without the requested controller.
    """
    built, asked = controllers(), os.environ.get(CONTROLLER_VARIABLE, "")
    if not built:
        raise CourseKitError(*JOINS_NOBODY)
    wanted = [name for name in built if name.lower() == asked.lower()] if asked else built
    if not wanted:
        raise CourseKitError(
            f"COURSEKIT_CONTROLLER is {asked}, but this Horovod joins ranks through {' or '.join(built)}: unset it",
            "controller.not-built",
        )
    return wanted[0]


def horovod_build() -> str:
    """Return a text: Horovod's version, and whether `make env` has changed Horovod for ranks that share cores."""
    try:
        kind = json.loads(Path(sys.prefix, STAMP).read_text()).get("horovod")
    except FileNotFoundError:
        kind = None
    how = "changed for ranks that share cores" if kind == "fast" else "as released"
    return f"Horovod {metadata.version('horovod')}, {how}"


def spare_horovod() -> None:
    """Tell AutoGraph to leave Horovod's functions as they are.

    AutoGraph rewrites every Python function that is called during tracing. Horovod's functions do not need that, and
    rewriting them takes a large part of each first step. TensorFlow excludes its own functions in the same way.
    Functions that Horovod itself compiles must also be compiled without AutoGraph.
    The function uses interfaces that are not public; without them, tracing still works, but AutoGraph slows it down.
    """
    try:
        import tensorflow as tf  # only ranks import TensorFlow
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
