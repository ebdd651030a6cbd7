"""What happens when one rank has a batch less than the other: the kit's words about the deadlock that follows."""

from __future__ import annotations

from typing import Any

from coursekit import ranks

DEADLINE_S = 4
NUM_BATCHES = (3, 2)


def train(nums_batches: tuple[int, ...]) -> int:
    """Average a gradient for each batch of this rank; the rank that is through first does not end."""
    import time  # noqa: PLC0415  # the function travels to the ranks

    import horovod.tensorflow as hvd  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    hvd.init()
    for _ in range(nums_batches[hvd.rank()]):
        hvd.allreduce(np.ones(4, np.float32), name="gradient")
    time.sleep(60)
    return hvd.rank()


def record() -> dict[str, Any]:
    """Run into the deadline, and keep what the kit says."""
    try:
        ranks.run(train, NUM_BATCHES, timeout_s=DEADLINE_S, show_output=False)
    except ranks.RankTimeoutError as error:
        lines = str(error).splitlines()
    return {"deadline_s": DEADLINE_S, "batches": NUM_BATCHES, "lines": lines}
