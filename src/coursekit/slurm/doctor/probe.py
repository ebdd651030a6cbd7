"""Facts that need TensorFlow and Horovod imported, as a program of its own: `python -m coursekit.slurm.doctor.probe`.

A TensorFlow compiled for another processor ends its process, and a Horovod without its MPI library cannot be imported:
the doctor has to survive both, so it asks this program.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from coursekit import KERAS


def tensorflow_facts() -> dict[str, Any]:
    """Return TensorFlow's version, whether it is one for GPUs, and the names of those that it sees."""
    import tensorflow as tf  # may not be there

    devices = tf.config.list_physical_devices("GPU")
    names = [tf.config.experimental.get_device_details(device).get("device_name", device.name) for device in devices]
    return {
        "tensorflow": tf.__version__,
        "gpus": names,
        "with_cuda": tf.test.is_built_with_cuda(),
    }


def keras_facts() -> dict[str, Any]:
    """Return the version of the package that `tf.keras` is."""
    return {"keras": import_module(KERAS).__version__}


def horovod_facts() -> dict[str, Any]:
    """Return Horovod's version and what it was built with."""
    import horovod
    import horovod.tensorflow as hvd

    return {
        "horovod": horovod.__version__,
        "controllers": [name for name, built in (("Gloo", hvd.gloo_built()), ("MPI", hvd.mpi_built())) if built],
        "gpu_operations": [name for name, built in (("NCCL", hvd.nccl_built()), ("CUDA", hvd.cuda_built())) if built],
    }


FACTS = {"tensorflow": tensorflow_facts, "keras": keras_facts, "horovod": horovod_facts}


def main() -> None:
    """Print one line of JSON for each kind of facts as soon as it is known, so that a crash costs only the rest."""
    for kind, facts in FACTS.items():
        try:
            found = facts()
        except Exception as error:  # noqa: BLE001  # whatever a broken installation raises is what is asked for
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({kind: found}), flush=True)


if __name__ == "__main__":
    main()
