"""The framework that a lab's ranks use; a server imports the framework before it forks the ranks.

Each lab has one framework (`framework` in `lab.toml`). A notebook chooses it with `ranks.warm_up("torch")`, and a
grader chooses it for each submission. An environment variable passes it to servers, ranks, and the tasks of a job step.
"""

from __future__ import annotations

import os

VARIABLE = "COURSEKIT_FRAMEWORK"
HOROVOD, TORCH = "horovod", "torch"
MODULES = {
    HOROVOD: ("numpy", "tensorflow", "horovod.tensorflow", "horovod.tensorflow.keras"),
    # PyTorch imports its parts for distributed training on first use, which would cost each rank a second.
    TORCH: (
        *("numpy", "torch", "torch.distributed.optim", "torch.distributed.fsdp", "torch.nn.parallel"),
        *("torch.utils.data.distributed", "torch.distributed.algorithms.join"),
    ),
}
NAMES = {HOROVOD: "TensorFlow or Horovod", TORCH: "PyTorch"}


def chosen() -> str:
    """Return the framework of this process's ranks."""
    return os.environ.get(VARIABLE, HOROVOD)


def choose(framework: str) -> None:
    """Set the framework of the ranks that this process starts from now on."""
    if framework not in MODULES:
        raise ValueError(f"framework must be one of {', '.join(MODULES)}, not {framework!r}")
    os.environ[VARIABLE] = framework
