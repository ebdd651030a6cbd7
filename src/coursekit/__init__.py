"""Course kit for teaching data-parallel deep learning on supercomputers.

Here is decided how everything that imports this package gets TensorFlow: with Keras 2 as `tf.keras`, which Horovod
needs, beside the hwloc of MPI, and as quiet as `TF_CPP_MIN_LOG_LEVEL` says. TensorFlow and PyTorch are imported
without a look for garbage, and NumPy computes with one thread.

From TensorFlow 2.16 on, Keras 2 is the package tf_keras, if a variable says so when TensorFlow is imported.
Up to 2.15 it is the package keras, and the variable would ask for one that is not there.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from coursekit.errors import CourseKitError

__version__ = "0.1.0"

STAMP = "coursekit-stamp.json"  # in an environment that `make env` has made, whose packages are all its own

LEGACY_KERAS = "TF_USE_LEGACY_KERAS"

HWLOC = "libhwloc.so.15"  # of every hwloc 2
# A launcher of MPI tells a process its rank in one of these. Others need no hwloc; in a sandbox it complains of /sys.
MPI_RANK = frozenset({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"})

# What libraries of TensorFlow 2.21 log while they are loaded, before they read TF_CPP_MIN_LOG_LEVEL.
_LOGGED = re.compile(rb"(?:WARNING: All log messages before absl::InitializeLog.*|I\d{4} .*)\n")


def _choose_keras() -> None:
    """Make `tf.keras` Keras 2; refuse where TensorFlow has been imported already, with Keras 3."""
    keras = find_spec("keras")  # importing it would take seconds
    folders = (keras and keras.submodule_search_locations) or ()
    if any(Path(folder, "api", "_v2").is_dir() for folder in folders):  # it is Keras 2
        os.environ.pop(LEGACY_KERAS, None)
    elif "tensorflow" in sys.modules and os.environ.get(LEGACY_KERAS) not in {"1", "true", "True"}:
        raise CourseKitError(
            "tf.keras is Keras 3, and Horovod needs Keras 2: restart, and import coursekit first.", "keras.version"
        )
    else:
        os.environ[LEGACY_KERAS] = "1"


class _Finder:
    """Finds TensorFlow, Horovod and PyTorch for `sys.meta_path` where they are, and changes how they are loaded."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where one of their modules is, with a loader of our own; None for all others."""
        loaded = _with_keras_2
        if name == "tensorflow":
            if not MPI_RANK.isdisjoint(os.environ):
                _load_hwloc()
            loaded = _importing()
        elif name == "torch":
            loaded = _importing()
        elif KERAS == "keras" or name not in {"horovod.tensorflow.keras", "horovod.tensorflow.keras.callbacks"}:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = loaded(spec.loader.exec_module)  # type: ignore[assignment,method-assign]
        return spec


def _load_hwloc() -> None:
    """Load the hwloc that MPI was built with, if there is one, so that MPI calls it and not TensorFlow's.

    TensorFlow 2.20 and later contain an old hwloc without PCI devices, and export its functions. Libraries that are
    loaded afterwards would call those: Open MPI (https://github.com/horovod/horovod/issues/1123) and network plugins of
    NCCL (https://github.com/openxla/xla/issues/39355). The dynamic linker takes what was loaded first.
    """
    with contextlib.suppress(OSError):
        ctypes.CDLL(HWLOC, mode=ctypes.RTLD_GLOBAL)


@contextlib.contextmanager
def _importing() -> Iterator[None]:
    """Import quietly, and never look for garbage among the 400,000 objects that an import makes: all stay.

    Without this Python looks while it imports, later now and then, and once more when the process ends.
    """
    looks, is_quiet = gc.isenabled(), os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") != "0"
    gc.disable()
    try:
        with hiding(_LOGGED) if is_quiet else contextlib.nullcontext():
            yield
        gc.freeze()
    finally:
        if looks:
            gc.enable()


@contextlib.contextmanager
def hiding(lines: re.Pattern[bytes]) -> Iterator[None]:
    """Hold back what comes on standard error, and show it at the end, but not these lines."""
    try:
        memory = os.memfd_create("stderr")  # there may be no folder for a file
    except OSError:  # a sandbox may forbid it; nobody reads there what is logged
        yield
        return
    with os.fdopen(memory, "r+b") as said:
        stderr = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            said.seek(0)
            os.write(2, lines.sub(b"", said.read()))


def _with_keras_2(load: Callable[[ModuleType], None], /) -> Callable[[ModuleType], None]:
    """Return a function that does the same, and lets the module use TensorFlow's Keras and not the package keras.

    Horovod as released takes its backend from the package, which is Keras 3. `tools/horovod.cmake` changes that, and
    spares the import of Keras 3; a site's or conda's Horovod may not have the change.
    """

    def changed(module: ModuleType) -> None:
        load(module)
        module.__dict__["K"] = sys.modules["tensorflow"].keras.backend

    return changed


_choose_keras()
# Threads of NumPy's OpenBLAS spin for work: with one for each core, `import numpy` and each product take more of the
# processors, which ranks share, and on a node of many cores many students' kernels meet the limit of threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
KERAS = "tf_keras" if LEGACY_KERAS in os.environ else "keras"  # the package that `tf.keras` is
sys.meta_path.insert(0, _Finder)
