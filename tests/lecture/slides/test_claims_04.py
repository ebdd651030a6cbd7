"""What deck 04 says of joining, process sets, sessions and elastic training, tried on real ranks with its code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from coursekit import ranks

DECK = Path(__file__).parents[3] / "slides/04-horovod.md"
TIMEOUT_S = 90
ELASTIC = '''
import horovod.tensorflow as hvd
import tensorflow as tf

hvd.init()
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
opt = tf.keras.optimizers.SGD(0.01)
num_batches, steps = 150, []


def train_step():
    """Take a step with the average of all ranks, and count it."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.ones((4, 2))) ** 2)
    weights = model.trainable_variables
    opt.apply_gradients(zip(hvd.DistributedGradientTape(tape).gradient(loss, weights), weights))
    steps.append(state.batch)


{code}
print(f"rank {{hvd.rank()}} of {{hvd.size()}}: {{len(steps)}} steps", flush=True)
'''


def code_of(needle):
    """Return the block of the deck's Python that holds these words."""
    blocks = re.findall(r"```python\n(.*?)```", DECK.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if needle in block)


def join_early(code):
    """Average fours until this rank's data end, join as the deck does, and return averages, last rank and weight."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    averages = []
    weight = tf.Variable(float(hvd.rank()))

    def train_step(number):
        averages.append(float(hvd.allreduce(tf.constant(4.0), name=f"step{number}")))

    scope = {
        "hvd": hvd,
        "data": [(number,) for number in range(2 + hvd.rank())],
        "train_step": train_step,
        "model": SimpleNamespace(variables=[weight]),
    }
    exec(code, scope)  # noqa: S102  # the deck's own
    return averages, int(scope["last"]), float(weight)


def test_a_rank_that_joined_gives_zeros_and_still_counts():
    """The average halves when one of two has joined; the last rank's weights are everybody's."""
    results = ranks.run(join_early, code_of("hvd.join()"), num_ranks=2, timeout_s=TIMEOUT_S)

    assert results == [([4.0, 4.0], 1, 1.0), ([4.0, 4.0, 2.0], 1, 1.0)]


def exchange_in_sets(code):
    """Add up the ranks of this rank's process set with the deck's code."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    scope = {"hvd": hvd}
    start, found, rest = code.partition("\nmine = ")
    exec(start, scope)  # noqa: S102  # the deck's own
    scope["x"] = tf.constant(float(hvd.rank()))
    exec(found + rest, scope)  # noqa: S102
    hvd.allreduce(tf.constant(0.0), name="end")  # no rank leaves before all have asked
    return float(scope["total"])


def test_process_sets_add_up_their_own_ranks():
    """Of four ranks, the even ones get 0 + 2, the odd ones 1 + 3."""
    results = ranks.run(exchange_in_sets, code_of("hvd.ProcessSet"), num_ranks=4, timeout_s=TIMEOUT_S)

    assert results == [2.0, 4.0, 2.0, 4.0]


def train_in_session(code, folder):
    """Train with the deck's historical code, on TensorFlow's interface of version 1, and return the last checkpoint."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    v1 = tf.compat.v1
    hvd.init()
    with v1.Graph().as_default():
        weight = v1.get_variable("weight", initializer=3.0)
        scope = {"tf": v1, "hvd": hvd, "loss": weight * weight, "rate": 0.1, "num_steps": 8}
        exec(code, {**scope, "folder": folder if hvd.rank() == 0 else None})  # noqa: S102  # the deck's own
    return v1.train.latest_checkpoint(folder)


def test_the_session_code_starts_on_rank_0_and_stops(tmp_path):
    """Rank 0 writes checkpoints, and all ranks stop after their share of the steps."""
    results = ranks.run(train_in_session, code_of("# Historical"), str(tmp_path), num_ranks=2, timeout_s=TIMEOUT_S)

    assert results[0].endswith("model.ckpt-4")


def test_the_elastic_code_trains_under_horovodrun(tmp_path):
    """With the options of the deck, on a host that a script names, each of two ranks takes all steps."""
    (tmp_path / "train.py").write_text(ELASTIC.format(code=code_of("hvd.elastic.run")))
    hosts = tmp_path / "hosts.sh"
    hosts.write_text("#!/bin/sh\necho localhost:2\n")
    hosts.chmod(0o755)
    run = [Path(sys.executable).with_name("horovodrun"), "--gloo", "--network-interface", "lo"]
    elastic = ["-np", "2", "--min-np", "2", "--max-np", "2", "--host-discovery-script", hosts]
    ended = subprocess.run(
        [*run, *elastic, sys.executable, "train.py"],
        capture_output=True,
        text=True,
        timeout=2 * TIMEOUT_S,
        check=False,
        cwd=tmp_path,
    )

    assert ended.returncode == 0, ended.stderr
    assert {line.partition(":")[2] for line in ended.stdout.splitlines() if "steps" in line} == {
        f"rank {rank} of 2: 150 steps" for rank in range(2)
    }
