"""What is asked of the Horovod that is there: which one it is, that AutoGraph leaves it alone, and that it warns."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from importlib import metadata
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

from coursekit import STAMP, ranks

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules


@pytest.mark.parametrize(
    ("stamp", "words"),
    [
        ({"horovod": "fast"}, "changed for ranks that share cores"),
        ({"horovod": "plain"}, "as released"),
        (None, "as released"),
    ],
)
def test_the_stamp_of_make_env_says_which(stamp, words, tmp_path, monkeypatch):
    """Where make env did not make the environment, a site or conda did, with Horovod as it was released."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    if stamp:
        (tmp_path / STAMP).write_text(json.dumps(stamp))

    assert ranks.horovod_build() == f"Horovod {metadata.version('horovod')}, {words}"


def averaged_gradients(translate: bool) -> tuple[list[float], bool]:
    """Return the gradients that a compiled step averages, and whether AutoGraph would translate Horovod's code."""
    import horovod.tensorflow as hvd
    import tensorflow as tf
    from tensorflow.python.autograph.core import config
    from tensorflow.python.autograph.impl import conversion

    if translate:
        config.CONVERSION_RULES = config.CONVERSION_RULES[1:]
        hvd._make_subgraph = tf.function  # noqa: SLF001  # as Horovod has it
    hvd.init()
    weights = tf.Variable(np.arange(3, dtype=np.float32))

    @tf.function
    def step(inputs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(inputs * weights**2)
        return hvd.DistributedGradientTape(tape).gradient(loss, [weights])[0]

    gradients = step(tf.fill([3], float(hvd.rank() + 1)))
    return gradients.numpy().tolist(), not conversion.is_allowlisted(hvd.allreduce)


@pytest.mark.parametrize("translate", [False, True])
def test_traces_average_the_same_with_and_without_translation(translate):
    """The mean of the gradients 2 w and 4 w of two ranks is 3 w; Horovod is translated only if one insists."""
    results = ranks.run(averaged_gradients, translate, num_ranks=2)

    assert results == [([0.0, 3.0, 6.0], translate)] * 2


def come_when_called(sign: Path) -> float:
    """Add up ones over two ranks, of which rank 1 comes when there is a file."""
    import horovod.tensorflow as hvd

    hvd.init()
    while hvd.rank() == 1 and not sign.exists():
        time.sleep(0.05)
    return float(hvd.allreduce(np.ones(1), op=hvd.Sum)[0])


class Reader(io.StringIO):
    """Writes a file when Horovod has named a rank that is missing, and what it misses."""

    def __init__(self, sign: Path) -> None:
        super().__init__()
        self.sign = sign

    def write(self, text: str) -> int:
        """Keep the text, and look for the sign."""
        num_written = super().write(text)
        if "Missing ranks:\n[0] 1: [" in self.getvalue():
            self.sign.touch()
        return num_written


def test_horovod_warns_of_a_rank_that_others_wait_for(tmp_path):
    """As released it never does where Gloo joins the ranks; rank 1 comes only after the warning."""
    sign = tmp_path / "warned"
    with contextlib.redirect_stdout(Reader(sign)):
        totals = ranks.run(come_when_called, sign, environ={"HOROVOD_STALL_CHECK_TIME_SECONDS": "1"})

    assert totals == [2.0, 2.0]
