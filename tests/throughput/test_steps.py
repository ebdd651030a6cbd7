"""Times of training steps: what the clock says."""

import subprocess
import sys
import time

import cloudpickle
import numpy as np
import pytest

from coursekit import ranks
from coursekit.errors import CourseKitError
from coursekit.throughput import StepTimes, warn_if_busy

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

PAUSE_S = 0.05


def train():
    """Train for 8 steps of a known length, and return what the callback and a clock around `fit` say."""
    import tensorflow as tf

    from coursekit.throughput import step_times

    class Sleep(tf.keras.layers.Layer):
        """A layer that takes its time."""

        def call(self, inputs):
            slept = tf.numpy_function(lambda x: (time.sleep(PAUSE_S), x)[1], [inputs], inputs.dtype)
            return tf.reshape(tf.stop_gradient(slept), tf.shape(inputs)) + inputs

    model = tf.keras.Sequential([Sleep(), tf.keras.layers.Dense(1)])
    model.compile("sgd", loss="mse")
    times = step_times(batch_size=4)
    begin = time.perf_counter()
    model.fit(np.ones((32, 2)), np.ones((32, 1)), batch_size=4, verbose=0, callbacks=[times])
    return times.seconds, times.first_s, times.images_per_s, time.perf_counter() - begin


def test_steps_of_model_fit_are_measured():
    """Every step lasts as long as its layer sleeps, the first one longer, and all together less than `fit`."""
    ((seconds, first_s, images_per_s, whole_s),) = ranks.run(train, num_ranks=1)

    assert len(seconds) == 8
    assert min(seconds) >= PAUSE_S
    assert seconds[0] == first_s > np.median(seconds[1:])
    assert images_per_s == pytest.approx(4 / np.median(seconds[1:]))
    assert sum(seconds) < whole_s


def test_without_a_second_step_there_is_no_speed():
    """The first step is mostly tracing: one sentence asks for more."""
    times = StepTimes(batch_size=4)
    times.on_train_batch_begin(0)
    times.on_train_batch_end(0)

    assert times.first_s > 0
    with pytest.raises(CourseKitError, match=r"speed.too-few-steps"):
        _ = times.images_per_s


def test_who_computes_beside_is_noticed(capsys):
    """A program that computes all the time uses about a core, and the sentence says to measure again."""
    beside = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.2)  # it has to start
        busy = warn_if_busy(2.0)
    finally:
        beside.kill()
        beside.wait()

    assert busy > 0.5
    assert f"Other programs use {busy:.1f} of your " in capsys.readouterr().out
