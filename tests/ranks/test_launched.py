"""What trainings ask about their Horovod: which one it is, and that AutoGraph leaves its code alone."""

from __future__ import annotations

import json
import sys
from importlib import metadata

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
