"""What decks 04, 05 and 08 say of Horovod, tried on real ranks with the code they show."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from coursekit import ranks

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 90
SIZES = (7, 3)  # pictures of the two ranks


def code_of(deck, needle, language="python"):
    """Return the block of a deck's code that holds these words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (ROOT / f"slides/{deck}.md").read_text(), re.DOTALL)
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
    results = ranks.run(join_early, code_of("04-horovod", "hvd.join()"), num_ranks=2, timeout_s=TIMEOUT_S)

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
    results = ranks.run(exchange_in_sets, code_of("04-horovod", "hvd.ProcessSet"), num_ranks=4, timeout_s=TIMEOUT_S)

    assert results == [2.0, 4.0, 2.0, 4.0]


def warm_up(code, *, momentum_correction):
    """Train with the callback of deck 05 on this rank; return the rates of the steps, and what was wrong."""
    import horovod.tensorflow.keras as hvd
    import tensorflow as tf

    found = {}
    code = code.replace("warmup_epochs=5", "warmup_epochs=1").replace("steps_per_epoch=100", "steps_per_epoch=4")
    code = code.replace("momentum_correction=False", f"momentum_correction={momentum_correction}")
    exec(code, found)  # noqa: S102  # the deck's own code
    network = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    network.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(found["rate"], momentum=0.9)), "mse")
    rates = []
    note = tf.keras.callbacks.LambdaCallback(
        on_batch_begin=lambda *_, **__: rates.append(float(network.optimizer.learning_rate))
    )
    samples = np.ones((8, 1), np.float32)
    try:
        network.fit(samples, samples, batch_size=2, epochs=2, callbacks=[found["warm_up"], note], verbose=0)
    except AttributeError as error:
        return rates, repr(error)
    return rates, ""


@pytest.mark.parametrize("momentum_correction", [False, True])
def test_warm_up_ends_at_the_scaled_rate_and_its_default_fails(momentum_correction):
    """The callback of deck 05 raises the rate to the scaled one and keeps it; with Keras's momentum it cannot."""
    code = code_of("05-learning-rate", "LearningRateWarmupCallback")
    for rates, error in ranks.run(warm_up, code, momentum_correction=momentum_correction, num_ranks=2):
        assert error.startswith("AttributeError") == bool(error) == momentum_correction
        assert error or rates == pytest.approx([0.0125, 0.015, 0.0175, *[0.02] * 5])


def validated(code, sizes, kind):
    """Validate with the function of deck 08 on this rank's shard, and with Keras on all pictures."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    found = {}
    exec(code, found)  # noqa: S102  # the deck's own code
    tf.keras.utils.set_random_seed(1)
    network = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(3,)), tf.keras.layers.Dropout(0.5)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(loss=loss, metrics=["accuracy"])
    rng = np.random.default_rng(1)
    pictures = rng.normal(size=(sum(sizes), 3)).astype(np.float32)
    labels = rng.integers(4, size=sum(sizes)).astype(kind)
    first = sum(sizes[: hvd.rank()])
    own = slice(first, first + sizes[hvd.rank()])
    shard = tf.data.Dataset.from_tensor_slices((pictures[own], labels[own])).batch(2)
    return found["validate"](network, shard, loss).tolist(), network.evaluate(pictures, labels, verbose=0)


@pytest.mark.parametrize("kind", ["int64", "int32", "uint8"])
def test_the_validation_of_deck_08_equals_one_process(kind):
    """On unequal shards with batches of unequal size it gives what Keras gives, whatever integers the labels are."""
    for on_ranks, alone in ranks.run(validated, code_of("08a-validation", "def validate"), SIZES, kind):
        assert on_ranks == pytest.approx(alone, abs=1e-5)


def trained(code, folder):
    """Train twice with the Estimator code of deck 08; return the global steps, and where this rank wrote."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    found = {}
    exec(code, found)  # noqa: S102  # the deck's own code

    def model_fn(features, mode):
        weight = tf.compat.v1.get_variable("weight", [], initializer=tf.compat.v1.initializers.random_normal())
        loss = tf.reduce_mean(tf.square(weight * features - 1.0))
        step = tf.compat.v1.train.get_global_step()
        optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.GradientDescentOptimizer(0.1), groups=1)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, step))

    config = found["make_run_config"](folder)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    steps, weights = [], []
    for num_steps in (8, 12):
        done = int(estimator.get_variable_value("global_step")) if estimator.latest_checkpoint() else 0
        done = hvd.broadcast_object(done, root_rank=0)
        found["train"](estimator, lambda: tf.data.Dataset.from_tensors(1.0).repeat(), num_steps, done)
        if hvd.rank() == 0:
            steps.append(int(estimator.get_variable_value("global_step")))
            weights.append(float(estimator.get_variable_value("weight")))
    return steps, config.session_config.gpu_options.visible_device_list, estimator.model_dir == folder


def test_the_estimator_code_of_deck_08_trains_and_goes_on(tmp_path):
    """Two ranks make half of the steps each, go on from rank 0's checkpoint, and only rank 0 writes there."""
    deck = "08b-estimator"
    code = code_of(deck, "def make_run_config") + code_of(deck, "def train")
    first, second = ranks.run(trained, code, str(tmp_path / "model"), num_ranks=2, timeout_s=120)
    assert first == ([4, 6], "0", True)
    assert second[1:] == ("1", False)
