"""The function whose launch is measured: one allreduce. As a program it is what `horovodrun` starts."""

from __future__ import annotations

import numpy as np


def one_allreduce() -> float:
    """Return the sum over all ranks of rank + 1, which for two ranks is 3."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # its import is a part of what is measured

    hvd.init()
    total = float(hvd.allreduce(np.array([hvd.rank() + 1.0]), op=hvd.Sum)[0])
    hvd.shutdown()
    return total


if __name__ == "__main__":
    print(one_allreduce())
