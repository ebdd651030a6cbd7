"""What decks 07, 09 and 10 say: of the last layer and its loss, of number formats, and of the code they show."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from coursekit import ranks

ROOT = Path(__file__).parents[3]


@pytest.mark.filterwarnings(
    "ignore:non-integer arguments:DeprecationWarning"
)  # Keras draws its seeds in a way that Python has deprecated
@pytest.mark.parametrize(
    ("last", "from_logits", "learns", "warns"),
    [
        ("softmax", False, True, False),
        ("softmax", True, True, True),
        (None, True, True, False),
        (None, False, False, False),
    ],
)
def test_logits_that_are_not_called_so_learn_nothing(last, from_logits, learns, warns):
    """Of four ways to join the last layer and the loss, one fails without a word, and a doubled softmax is noticed."""
    import tensorflow as tf

    rng = np.random.default_rng(0)
    samples = rng.normal(size=(512, 10)).astype(np.float32)
    classes = (samples @ rng.normal(size=(10, 5))).argmax(1)
    tf.keras.utils.set_random_seed(1)
    layers = [tf.keras.layers.Dense(32, "relu", input_shape=(10,)), tf.keras.layers.Dense(5, last)]
    network = tf.keras.Sequential(layers)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits)
    network.compile(tf.keras.optimizers.SGD(0.1), loss, metrics=["accuracy"])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        accuracy = network.fit(samples, classes, epochs=20, verbose=0).history["accuracy"][-1]

    assert (accuracy > 0.9, accuracy < 0.4) == (learns, not learns)
    assert any("from_logits=True" in str(one.message) for one in found) == warns


def code_of(deck, needle, language="python"):
    """Return the block of a deck's code that holds these words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (ROOT / f"slides/{deck}.md").read_text(), re.DOTALL)
    return next(block for block in blocks if needle in block)


def fit_shown_code(code, scales):
    """Run a deck's code, fit two steps on this rank's pictures, and return weights and loss scales."""
    scope = {}
    exec(code, scope)  # noqa: S102  # the deck's own
    model, hvd, tf = scope["model"], scope["hvd"], scope["tf"]
    tf.keras.utils.set_random_seed(1)
    rng = np.random.default_rng(hvd.rank())
    pictures = rng.standard_normal((8, 6, 6, 3)).astype(np.float32)
    labels = rng.integers(10, size=8)
    model(pictures)
    model.set_weights([np.full(weight.shape, 0.01, np.float32) for weight in model.weights])
    found = []
    for scale in scales:
        model.fit(scale[hvd.rank()] * pictures, labels, batch_size=8, verbose=0)
        found.append(np.concatenate([weight.numpy().ravel() for weight in model.trainable_variables]))
    return type(model.optimizer).__name__, float(model.optimizer.loss_scale), found


def test_the_shown_code_scales_averages_and_skips_together():
    """An overflow on one rank alone makes both skip; without it both take the same step."""
    code = code_of("09-faster", "set_global_policy")
    results = ranks.run(fit_shown_code, code, ((1, 1), (1, 3e4)), num_ranks=2, seed=1, timeout_s=90)
    for name, scale, (after_good, after_bad) in results:
        assert name.startswith("LossScaleOptimizer")
        assert scale == 2.0**14
        assert np.array_equal(after_good, after_bad)
        assert not np.allclose(after_good, 0.01)
    assert np.array_equal(results[0][2][0], results[1][2][0])


def test_the_resolver_reads_what_tf_config_says(monkeypatch):
    """From a step of two tasks on two nodes Slurm's resolver makes the cluster and the index of the deck's JSON."""
    import tensorflow as tf

    wanted = json.loads(code_of("10-other-ways", "cluster", "json"))
    step = {"NUM_TASKS": "2", "NODELIST": "node[1-2]", "TASKS_PER_NODE": "1(x2)"}
    for name, value in step.items():
        monkeypatch.setenv(f"SLURM_STEP_{name}", value)
    monkeypatch.setenv("SLURM_PROCID", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    shown = re.search(r"SlurmClusterResolver\(port_base=(\d+)\)", code_of("10-other-ways", "SlurmClusterResolver"))
    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(
        port_base=int(shown[1]), gpus_per_node=1, gpus_per_task=1
    )
    assert resolver.cluster_spec().as_dict() == wanted["cluster"]
    resolver.get_task_info()
    assert (resolver.task_type, resolver.task_id) == (wanted["task"]["type"], wanted["task"]["index"])


def order_of_mixed_precision(code):
    """Fit a step with a deck's code; return types and largest values of the gradients that an average is given."""
    scope = {}
    exec(code, scope)  # noqa: S102  # the deck's own
    model = scope["model"]
    inner = model.optimizer.inner_optimizer
    seen, reduce_ = [], inner._allreduce_grads  # noqa: SLF001  # Horovod's call, made before the scale goes

    def noted(gradients, variables=None):
        seen.extend(gradients)
        return reduce_(gradients, variables)

    inner._allreduce_grads = noted  # noqa: SLF001
    model.run_eagerly = True
    model.fit(np.ones((8, 6, 6, 3), np.float32), np.arange(8), batch_size=8, verbose=0)
    return [(gradient.dtype.name, float(abs(gradient.numpy()).max())) for gradient in seen]


def test_keras_averages_scaled_gradients_of_32_bits():
    """Horovod is given FP32, so as many bytes as without mixed precision, before the scale is divided out."""
    code = code_of("09-faster", "set_global_policy")
    for seen in ranks.run(order_of_mixed_precision, code, num_ranks=2, seed=1, timeout_s=90):
        assert {kind for kind, _ in seen} == {"float32"}
        assert max(largest for _, largest in seen) > 2**8
