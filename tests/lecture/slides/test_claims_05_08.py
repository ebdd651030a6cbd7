"""What decks 05 and 08 say: of their recorded runs, of Horovod's callbacks, and of the code they show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from coursekit import ranks

ROOT = Path(__file__).parents[3]
SIZES = (7, 3)  # pictures of the two ranks


def result(name):
    """Read the data of a recorded result."""
    return json.loads((ROOT / f"slides/results/{name}.json").read_text())["data"]


def code_of(deck, needle):
    """Return the block of a deck's code that holds these words."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / f"slides/{deck}.md").read_text(), re.DOTALL)
    return next(block for block in blocks if needle in block)


def test_the_stability_limit_is_where_theory_has_it():
    """Below 2 / lambda the loss has fallen; above it has grown; the eigenvalue is that of the recorded moments."""
    data = result("stability-limit")
    mean = data["moments"]
    largest = np.linalg.eigvalsh(2 * np.array([[mean["xx"], mean["x"]], [mean["x"], 1]]))[-1]
    assert data["limit"] == pytest.approx(2 / largest, abs=1e-3)
    for one in data["rates"]:
        if abs(one["rate"] - data["limit"]) > 0.001:
            assert (one["excess"] < data["first_excess"]) == (one["rate"] < data["limit"])


def test_a_careful_rate_may_be_scaled():
    """With the careful rate the large batch lags behind unscaled, and comes up with the small one when scaled."""
    ways = result("rate-scaling")["runs"][0]["ways"]
    assert ways["unscaled"]["last"] < ways["root"]["last"] < ways["linear"]["last"]
    assert abs(ways["linear"]["last"] - ways["small"]["last"]) < 0.05
    assert ways["small"]["last"] - ways["unscaled"]["last"] > 0.05


def test_a_bold_rate_may_not():
    """With the bold rate the linear rule trains worse than the root, and warm-up softens that."""
    ways = result("rate-scaling")["runs"][1]["ways"]
    assert ways["linear"]["last"] < ways["warm-up"]["last"] < ways["root"]["last"]


def test_the_callback_takes_the_plain_mean():
    """Its accuracy is the mean of the ranks'; sums by allreduce give what one process gives."""
    data = result("validation-bias")
    accuracies = [rank["num_right"] / rank["num_pictures"] for rank in data["ranks"]]
    assert data["callback"]["accuracy"] == pytest.approx(np.mean(accuracies), abs=1e-4)
    assert data["weighted"]["accuracy"] == pytest.approx(data["serial"]["accuracy"], abs=1e-4)
    assert data["weighted"]["loss"] == pytest.approx(data["serial"]["loss"], abs=1e-3)


def test_the_bias_is_a_covariance():
    """Plain mean less truth is minus the covariance of size and accuracy, over the mean size, as deck 08 has it."""
    data = result("validation-bias")
    sizes = [rank["num_pictures"] for rank in data["ranks"]]
    accuracies = [rank["accuracy"] for rank in data["ranks"]]
    bias = -np.cov(sizes, accuracies, bias=True)[0, 1] / np.mean(sizes)
    assert data["plain"]["accuracy"] - data["serial"]["accuracy"] == pytest.approx(bias, abs=1e-4)


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


def test_warm_up_ends_at_the_scaled_rate():
    """The callback of deck 05 raises the rate from that of one rank to the scaled one, and keeps it."""
    code = code_of("05-learning-rate", "LearningRateWarmupCallback")
    for rates, error in ranks.run(warm_up, code, momentum_correction=False, num_ranks=2):
        assert not error
        assert rates == pytest.approx([0.0125, 0.015, 0.0175, 0.02, 0.02, 0.02, 0.02, 0.02])


def test_momentum_correction_fails_with_this_keras():
    """As deck 05 says: with its default the callback ends in an AttributeError."""
    code = code_of("05-learning-rate", "LearningRateWarmupCallback")
    for _, error in ranks.run(warm_up, code, momentum_correction=True, num_ranks=2):
        assert error.startswith("AttributeError")


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
