"""Import the modules that ranks need; this happens once, in the process from which the ranks are forked."""

from __future__ import annotations

import contextlib
import gc
import importlib
import traceback

from coursekit.errors import Cause, CourseKitError
from coursekit.framework import HOROVOD, MODULES, NAMES, chosen
from coursekit.processes import use_huge_pages
from coursekit.ranks.horovod_build import MPI, controller, spare_horovod


def preload(*more: str) -> str:
    """Import the framework and the modules in `more`; return '', or a message that says why no rank can start."""
    try:
        if chosen() == HOROVOD:
            with contextlib.suppress(CourseKitError):  # its package is missing; only lab 04 needs it, and reports that
                importlib.import_module("coursekit.estimator")
        for module in (*MODULES[chosen()], *more):
            importlib.import_module(module)
        if chosen() == HOROVOD:
            controller()
            spare_horovod()
    except CourseKitError as error:
        return str(error)
    except Exception:  # noqa: BLE001  # a broken installation can raise anything; the caller explains it
        cause = traceback.format_exc().rstrip().splitlines()[-1]
        failure = Cause(
            f"{NAMES[chosen()]} cannot be imported ({cause}): run `coursekit doctor` to see what is missing",
            "framework.not-imported",
        )
        return str(failure)
    use_huge_pages()
    gc.freeze()  # otherwise the first garbage collection in a child copies every page that it shares with us
    return ""


def joins_by_mpi() -> bool:
    """Return whether ranks that use the imported Horovod join through MPI."""
    return chosen() == HOROVOD and controller() == MPI
