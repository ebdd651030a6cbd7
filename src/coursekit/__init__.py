"""Course kit for teaching data-parallel deep learning on supercomputers.

Importing this package has these effects on later imports:

- `tf.keras` becomes Keras 2, which Horovod needs.
- If MPI has started this process, MPI's hwloc library is loaded before TensorFlow.
- If `TF_CPP_MIN_LOG_LEVEL` is set to a value other than 0, TensorFlow logs less while it is loaded.
- The garbage collector is off while TensorFlow and PyTorch are imported.
- NumPy computes with one thread.

From TensorFlow 2.16 on, Keras 2 is the package tf_keras, and `TF_USE_LEGACY_KERAS` must be set when TensorFlow is
imported. Up to 2.15, Keras 2 is the package keras, and the variable would select a package that is not installed.
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

STAMP = "coursekit-stamp.json"  # a file in every environment that `make env` makes, which holds all of its packages

LEGACY_KERAS = "TF_USE_LEGACY_KERAS"

HWLOC = "libhwloc.so.15"  # the same name in every version 2 of hwloc
# MPI launchers set one of these to the rank. Other processes do not need hwloc, which warns about /sys in a sandbox.
MPI_RANK = frozenset({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"})

# Lines that libraries of TensorFlow 2.21 log while loading, before they read TF_CPP_MIN_LOG_LEVEL.
_LOGGED = re.compile(rb"(?:WARNING: All log messages before absl::InitializeLog.*|I\d{4} .*)\n")


def _choose_keras() -> None:
    """Make `tf.keras` refer to Keras 2; raise an error if TensorFlow has already been imported with Keras 3."""
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
    """A finder for `sys.meta_path` that changes how TensorFlow, Horovod and PyTorch are loaded."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """For TensorFlow, PyTorch and Horovod's Keras modules, return a spec with our own loader; for others, None."""
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
    """Load the hwloc library that MPI was built with, if it is installed, so that MPI does not call TensorFlow's copy.

    TensorFlow 2.20 and later contain an old hwloc without support for PCI devices, and export its functions. Open MPI
    (https://github.com/horovod/horovod/issues/1123) and NCCL's network plugins
    (https://github.com/openxla/xla/issues/39355) would call these functions if they were loaded after TensorFlow.
    The dynamic linker uses the library that was loaded first.
    """
    with contextlib.suppress(OSError):
        ctypes.CDLL(HWLOC, mode=ctypes.RTLD_GLOBAL)


@contextlib.contextmanager
def _importing() -> Iterator[None]:
    """Keep the imports in this block quiet, and exempt the objects that they create from garbage collection.

    The imports create 400,000 permanent objects. Without the exemption, Python would search them for garbage during the
    import, occasionally afterwards, and when the process ends.
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
    """Hold back what the block writes to standard error; when it ends, write everything except the lines that match."""
    try:
        memory = os.memfd_create("stderr")  # there may be no folder for a file
    except OSError:  # a sandbox may forbid it, but nobody reads the log there
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
    """Return a loader that also makes the loaded module use TensorFlow's Keras, not the package keras.

    The released Horovod takes its backend from the package keras, which is Keras 3. A Horovod built with
    `tools/horovod.cmake` does not import Keras 3; a Horovod that a site or conda provides may still import it.
    """

    def changed(module: ModuleType) -> None:
        load(module)
        module.__dict__["K"] = sys.modules["tensorflow"].keras.backend

    return changed


_choose_keras()
# Idle threads of NumPy's OpenBLAS spin. With one thread per core, `import numpy` and each matrix product would take
# more processor time from the ranks, and on a node with many cores, many students' kernels would hit the thread limit.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
KERAS = "tf_keras" if LEGACY_KERAS in os.environ else "keras"  # the package that provides `tf.keras`
sys.meta_path.insert(0, _Finder)
