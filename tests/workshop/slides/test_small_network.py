"""The small network in NumPy, against TensorFlow."""

import numpy as np
import pytest

from workshop.slides.small_network import SmallNetwork

NETWORK = SmallNetwork(num_inputs=12, num_hidden=7, num_classes=4)


@pytest.fixture
def samples():
    """Give samples of twelve numbers, and labels."""
    rng = np.random.default_rng(2)
    return rng.normal(size=(9, 12)), rng.integers(4, size=9)


@pytest.fixture
def weights():
    """Give weights, offsets included, none of them zero."""
    return np.random.default_rng(3).normal(size=NETWORK.start(0).shape) * 0.7


def loss_of_tensorflow(tf, weights, samples):
    """Compute the loss from a tensor of all weights."""
    ends = np.cumsum([12 * 7, 7, 7 * 4])
    first, first_offset, last, last_offset = (
        weights[begin:end] for begin, end in zip([0, *ends], [*ends, weights.shape[0]])
    )
    hidden = tf.nn.relu(samples[0] @ tf.reshape(first, (12, 7)) + first_offset)
    logits = hidden @ tf.reshape(last, (7, 4)) + last_offset
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(samples[1], logits))


def test_loss_and_gradient_are_those_of_tensorflow(samples, weights):
    """TensorFlow's tape finds the same gradient."""
    import tensorflow as tf

    variable = tf.Variable(weights)
    with tf.GradientTape() as tape:
        expected = loss_of_tensorflow(tf, variable, samples)

    loss, gradient = NETWORK.loss_and_gradient(weights, *samples)

    assert loss == pytest.approx(expected.numpy())
    np.testing.assert_allclose(gradient, tape.gradient(expected, variable), atol=1e-12)


def test_steepest_direction_is_that_of_the_whole_hessian(samples, weights):
    """NumPy finds the same eigenvalue, and its direction, in the matrix that TensorFlow computes."""
    import tensorflow as tf

    variable = tf.Variable(weights)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            loss = loss_of_tensorflow(tf, variable, samples)
        gradient = inner.gradient(loss, variable)
    hessian = outer.jacobian(gradient, variable, experimental_use_pfor=False).numpy()

    value, direction = NETWORK.steepest(weights, *samples, num_rounds=300)

    values, directions = np.linalg.eigh(hessian)
    assert value == pytest.approx(values[-1], rel=1e-3)
    assert abs(direction @ directions[:, -1]) == pytest.approx(1, rel=1e-3)
