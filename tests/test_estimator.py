"""`tf.estimator`: TensorFlow's own, or what `coursekit.estimator` sets in its place; the same tests for both.

Networks have one weight w and the loss (w - target)², so that every training has a closed form: a step of gradient
descent with rate 0.1 leaves 0.8 of the distance to the target.
"""

import os
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest

from coursekit import ranks
from coursekit.errors import codes_in

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

TARGET = 3.0
SHRINK = 0.8
FAR = 1e-6  # relative; weights are single precision


def weight_after(num_steps, target=TARGET, start=0.0):
    """Return the weight after so many steps from `start`."""
    return target + (start - target) * SHRINK**num_steps


def model_fn(features, labels, mode, params):
    """Return one step, the loss and the squared weight, or the products of weight and features."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    weight = tf.compat.v1.get_variable("weight", [], initializer=tf.compat.v1.constant_initializer(params["start"]))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"product": weight * features})
    loss = tf.reduce_mean(tf.square(weight - labels))
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    if params["averages"]:
        optimizer = hvd.DistributedOptimizer(optimizer)
    metrics = {"square": tf.compat.v1.metrics.mean(weight**2)}
    step = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)


def data_fn(target=TARGET):
    """Return an input function: features 1 and 2 with this target, without end."""
    import tensorflow as tf

    return lambda: tf.data.Dataset.from_tensors(([1.0, 2.0], [target, target])).repeat()


def new_estimator(folder, *, start=0.0, averages=False, **settings):
    """Return an Estimator of the network with a `RunConfig` of these settings."""
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    config = tf.estimator.RunConfig(model_dir=folder, **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"start": start, "averages": averages})


def on_one_rank(function, *args):
    """Return what the function returns in a process of its own."""
    return ranks.run(function, *args, num_ranks=1, timeout_s=300)[0]


def in_all_modes(folder):
    """Train three steps; return the weight, the metrics of an evaluation, and two predictions."""
    estimator = new_estimator(folder)
    estimator.train(data_fn(), max_steps=3)
    metrics = estimator.evaluate(data_fn(), steps=1)
    predictions = estimator.predict(data_fn(), yield_single_examples=False)
    return float(estimator.get_variable_value("weight")), {**metrics}, next(predictions)["product"]


def test_an_estimator_trains_evaluates_and_predicts(tmp_path):
    """The weight is that of the closed form; loss, metrics and predictions follow from it."""
    weight, metrics, products = on_one_rank(in_all_modes, str(tmp_path))

    assert weight == pytest.approx(weight_after(3), rel=FAR)
    assert metrics == {
        "loss": pytest.approx((weight - TARGET) ** 2, rel=FAR),
        "square": pytest.approx(weight**2, rel=FAR),
        "global_step": 3,
    }
    np.testing.assert_allclose(products, [weight, 2 * weight], rtol=FAR)


def on_two_ranks(folder):
    """Train in two parts with Horovod, the checkpoint on rank 0 alone; return steps and weights of the session."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    seen = []

    class Weights(tf.estimator.SessionRunHook):
        def begin(self):
            self.wanted = [tf.compat.v1.train.get_global_step(), *tf.compat.v1.trainable_variables()]

        def end(self, session):
            seen.extend(map(float, session.run(self.wanted)))

    for num_steps in (3, 5):
        estimator = new_estimator(
            folder if hvd.rank() == 0 else None,
            start=10.0 * hvd.rank(),
            averages=True,
            save_checkpoints_steps=None,
            save_checkpoints_secs=10 if hvd.rank() == 0 else None,
        )
        hooks = [hvd.BroadcastGlobalVariablesHook(0), Weights()]
        estimator.train(data_fn(TARGET + 2 * hvd.rank()), hooks=hooks, max_steps=num_steps)
    return seen


def test_ranks_of_horovod_train_one_network(tmp_path):
    """Two ranks that start elsewhere and have other targets have one weight, that of rank 0's start and the mean."""
    expected = [3, pytest.approx(weight_after(3, TARGET + 1), rel=FAR), 5]
    expected.append(pytest.approx(weight_after(5, TARGET + 1), rel=FAR))

    first, second = ranks.run(on_two_ranks, str(tmp_path), num_ranks=2, timeout_s=300)

    assert first == expected
    assert second == first


def last_line(program):
    """Run a program in an interpreter of its own; return the last line of what it says."""
    environ = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).rstrip().splitlines()[-1]


def test_an_estimator_of_tensorflows_own_stays():
    """Where TensorFlow has one, nothing is loaded and nothing changed."""
    program = """
import sys
import coursekit
import tensorflow as tf
tf.estimator = "TensorFlow's own"
import coursekit.estimator
print(tf.estimator, "tensorflow_estimator" in sys.modules)
"""
    assert last_line(program) == "TensorFlow's own False"


STRATEGY_IN_A_CLUSTER = """
os.environ["TF_CONFIG"] = '{"cluster": {"worker": ["a:1", "b:1"]}}'
import coursekit.estimator
tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy(["CPU:0"]))
"""


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("sys.modules['tensorflow_estimator'] = None; import coursekit.estimator", "estimator.missing"),
        ("import horovod.tensorflow; import coursekit.estimator", "estimator.imported-late"),
        (STRATEGY_IN_A_CLUSTER, "estimator.several-machines"),
    ],
    ids=["no package", "after Horovod", "strategy in a cluster"],
)
def test_what_cannot_work_is_refused(program, code):
    """Without an Estimator of TensorFlow's own, what is missing or not to be had is named."""
    start = "import os, sys; import coursekit; import tensorflow as tf; vars(tf).pop('estimator', None); "
    assert codes_in(last_line(start + program)) == [code]
