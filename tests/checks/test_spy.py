"""The spy network: what it writes down is what it was shown, and what is computed from that is TensorFlow's own."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.checks import spy_steps
from coursekit.drivers import spy

NUM_CLASSES = 13
SAMPLES = np.array([7, 0, 11, 7])


def flat_pictures(numbers, height=6, width=4):
    """Return images of these samples with pixels from -1 to 1, shape (num_images, height, width, 3)."""
    colors = spy.colors(spy.MAX_NUM_SAMPLES)[numbers][:, np.newaxis, np.newaxis]
    return (np.broadcast_to(colors, (len(numbers), height, width, 3)) / 127.5 - 1).astype(np.float32)


def compiled(run_eagerly=False):
    """Return a spy compiled with plain SGD of rate 0.5."""
    import tensorflow as tf

    network = spy.network(NUM_CLASSES)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(tf.keras.optimizers.SGD(0.5), loss, run_eagerly=run_eagerly)
    return network


def descend(bias, batches):
    """Return the bias before each step of gradient descent with rate 0.5, by one-hot vectors in NumPy."""
    before = []
    for batch in batches:
        before.append(bias)
        softmax = np.exp(bias) / np.exp(bias).sum()
        bias = bias - 0.5 * (softmax - np.eye(NUM_CLASSES)[batch + 1].mean(axis=0))
    return np.array(before)


def test_no_two_samples_have_one_colour():
    """The colours of all samples differ, from each other by 43 levels or more in some channel."""
    colors = spy.colors(spy.MAX_NUM_SAMPLES).astype(int)
    gaps = np.abs(colors[:, np.newaxis] - colors[np.newaxis]).max(axis=2)

    assert gaps[~np.eye(len(colors), dtype=bool)].min() == 43


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.float64])
def test_every_sample_is_known_by_its_colour(kind):
    """All 216 samples are read back from their images, also from half precision."""
    numbers = np.arange(spy.MAX_NUM_SAMPLES)

    assert spy.sample_numbers(flat_pictures(numbers).astype(kind)).tolist() == numbers.tolist()


def test_every_sample_survives_bfloat16():
    """The 8 bits of bfloat16, of mixed_bfloat16, leave the colours apart."""
    import tensorflow as tf

    numbers = np.arange(spy.MAX_NUM_SAMPLES)
    rounded = tf.cast(tf.cast(flat_pictures(numbers), tf.bfloat16), tf.float32)

    assert spy.sample_numbers(rounded.numpy()).tolist() == numbers.tolist()


@pytest.mark.parametrize("scale", [lambda image: (image + 1) * 127.5, lambda image: (image + 1) / 2])
def test_pixels_of_another_range_are_no_samples(scale):
    """With pixels from 0 to 255, or from 0 to 1, most images have no sample's colour, and are -1."""
    found = spy.sample_numbers(scale(flat_pictures(np.arange(spy.MAX_NUM_SAMPLES))))

    assert np.mean(found == -1) > 0.8


def test_written_files_hold_the_samples_and_their_labels(tmp_path):
    """From JPEG, a window, a flip and another size, every sample is known; its label is its number plus 1."""
    import tensorflow as tf

    from coursekit import imagenet

    files = spy.write_samples(tmp_path, (3, 1, 4), "validation", numbers=range(100, 108))
    found, labels = [], []
    for file in files:
        for record in imagenet.read_records(file):
            encoded, label = imagenet.parse_record(record)
            window = tf.io.decode_and_crop_jpeg(encoded, [3, 5, 16, 20], channels=3)
            image = tf.image.flip_left_right(tf.image.resize(window, (9, 9))) / 127.5 - 1
            found.append(int(spy.sample_numbers(image.numpy()[np.newaxis])[0]))
            labels.append(int(label))

    assert [file[-len("validation-00000-of-00003") :] for file in files] == [
        f"validation-{number:05d}-of-00003" for number in range(3)
    ]
    assert found == list(range(100, 108))
    assert labels == list(range(101, 109))


def test_tilts_tell_how_images_are_cut(tmp_path):
    """Written images that are cut alike have one tilt, a mirrored one its negative, and flat ones none."""
    import tensorflow as tf

    from coursekit import imagenet

    (file,) = spy.write_samples(tmp_path, (3,), numbers=(0, 100, 215))
    encoded = [imagenet.parse_record(record)[0] for record in imagenet.read_records(file)]
    middle, left = (
        np.stack([tf.io.decode_and_crop_jpeg(one, window, channels=3).numpy() / 127.5 - 1 for one in encoded])
        for window in ([0, 4, 24, 24], [0, 0, 24, 16])
    )

    assert np.ptp(spy.tilts(middle)) < 0.1
    assert spy.tilts(middle[:, :, ::-1]) == pytest.approx(-spy.tilts(middle))
    assert spy.tilts(middle).mean() > spy.tilts(left).mean() + 1
    assert spy.tilts(flat_pictures(SAMPLES)).tolist() == [0.0] * 4


def test_too_many_samples_are_refused(tmp_path):
    """More samples than there are colours are an error, not two samples of one colour."""
    with pytest.raises(ValueError, match="the spy knows 216 colours, not 217"):
        spy.write_samples(tmp_path, (200, 17))


def test_gradient_and_loss_are_those_of_tensorflow():
    """Both agree with TensorFlow's cross-entropy of the spy's logits and its gradient tape."""
    import tensorflow as tf

    network = spy.network(NUM_CLASSES)
    bias = network.trainable_variables[0]
    with tf.GradientTape() as tape:
        logits = network(flat_pictures(SAMPLES), training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(SAMPLES + 1, logits))
    gradients = tape.gradient(loss, network.trainable_variables)

    assert bias.shape == (NUM_CLASSES,)
    assert spy_steps.gradient(bias.numpy(), SAMPLES) == pytest.approx(gradients[0].numpy(), abs=1e-6)
    assert spy_steps.loss(bias.numpy(), SAMPLES) == pytest.approx(float(loss), rel=1e-5)
    assert [float(gradient) for gradient in gradients[1:]] == [0.0] * spy.NUM_OTHER_WEIGHTS


def test_loss_of_large_logits_is_finite():
    """Logits of hundreds do not overflow: the loss is then the gap between them."""
    bias = np.array([0.0, 900.0, 100.0])

    assert spy_steps.loss(bias, np.array([1])) == pytest.approx(800.0)
    assert spy_steps.gradient(bias, np.array([1])) == pytest.approx(np.array([0.0, 1.0, -1.0]))


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_sights_of_fit_and_evaluate(run_eagerly):
    """`fit` shows every batch once, with the weights before its step, and `evaluate` shows them as no training."""
    numbers = np.arange(12)
    network = compiled(run_eagerly)
    start = network.trainable_variables[0].numpy()
    seen = spy.watch()
    network.fit(flat_pictures(numbers), numbers + 1, batch_size=5, shuffle=False, verbose=0)
    network.evaluate(flat_pictures(numbers[:3]), numbers[:3] + 1, verbose=0)

    batches = [numbers[:5], numbers[5:10], numbers[10:], numbers[:3]]
    assert [sight.samples.tolist() for sight in seen] == [batch.tolist() for batch in batches]
    assert [sight.training for sight in seen] == [True, True, True, False]
    assert np.array([sight.bias for sight in seen]) == pytest.approx(descend(start, batches), abs=1e-6)


def test_sights_of_a_compiled_loop():
    """A compiled step of one's own shows every call, not only the one that traced it; other weights do not move."""
    import tensorflow as tf

    network = compiled()
    start = network.trainable_variables[0].numpy()
    others = [float(variable) for variable in network.trainable_variables[1:]]
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(images, training=True))
        gradients = tape.gradient(loss, network.trainable_variables)
        network.optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    seen = spy.watch()
    batches = [np.array([first, 3, 11]) for first in range(4)]
    losses = [float(step(tf.constant(flat_pictures(batch)), tf.constant(batch + 1))) for batch in batches]

    assert [sight.samples.tolist() for sight in seen] == [batch.tolist() for batch in batches]
    assert np.array([sight.bias for sight in seen]) == pytest.approx(descend(start, batches), abs=1e-6)
    assert losses == pytest.approx([spy_steps.loss(sight.bias, sight.samples) for sight in seen], rel=1e-5)
    assert [float(variable) for variable in network.trainable_variables[1:]] == others


def test_watching_again_forgets():
    """`watch` begins anew, in the list that it returned before, too."""
    before = spy.watch()
    compiled()(flat_pictures(SAMPLES), training=False)

    assert [sight.samples.tolist() for sight in before] == [SAMPLES.tolist()]
    assert spy.watch() == []
    assert before == []
