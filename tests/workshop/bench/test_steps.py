"""The steps benchmarks: real ranks, tiny sizes, and that what is compared differs in nothing else."""

import sys

import cloudpickle
import numpy as np
import pytest

from coursekit import ranks
from coursekit.imagenet import find_data, list_files, parse_record, read_records
from workshop.bench.communication import CYCLE, ONE_GROUP, measure_settings
from workshop.bench.input_pipeline import compare_with_memory, training_batches
from workshop.bench.steps import FULL_SPEED, Case, Setting, cores_of

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

TINY = Case("SmallCNN", image_size=32, batch_size=1, num_turns=2, num_steps=2)


@pytest.mark.parametrize(
    ("place", "cores", "own"),
    [
        ((0, 2), {0, 1}, {0}),
        ((1, 2), {0, 1}, {1}),
        ((1, 2), {2, 3, 5, 7, 11}, {5, 7}),
        ((0, 1), {4, 6}, {4, 6}),
        ((2, 3), {0, 1}, {0, 1}),
    ],
)
def test_cores_are_dealt_out_evenly_and_shared_when_they_are_too_few(place, cores, own):
    """No core belongs to two ranks, unless there are fewer cores than ranks."""
    assert cores_of(*place, cores) == own


@pytest.mark.parametrize("name", ["Gloo, tuned", "MPI, tuned"])
def test_a_setting_is_measured_beside_no_communication(name):
    """Two ranks give every kind of step its turns; the first step, which traces, is kept apart."""
    setting = Setting(name, CYCLE, ONE_GROUP, bound=True, traced_once=True)
    measured = measure_settings(TINY, [setting], lambda _: None)
    alone, together = measured.series
    assert (alone.name, together.name) == (FULL_SPEED, name)
    assert alone.full_speed_s == together.full_speed_s == alone.median_s
    for series in measured.series:
        assert len(series.seconds) == 4  # two turns of two steps
        assert series.first_s > min(series.seconds) > 0


def step_facts(wrapped):
    """Return on a rank how often the step was traced, and the output biases after two steps."""
    import horovod.tensorflow.keras as hvd
    import tensorflow as tf

    from workshop.bench import steps

    hvd.init()
    tf.random.set_seed(hvd.rank())  # other images on each rank
    wrap = (lambda plain: hvd.DistributedOptimizer(plain, **ONE_GROUP)) if wrapped else (lambda plain: plain)
    network = steps.compiled_network(TINY, wrap, traced_once=True)
    step = steps.training_step(network, steps.repeated(steps.memory_batch(TINY)))
    step()
    step()
    return network.train_tf_function.experimental_get_tracing_count(), network.trainable_variables[-1].numpy()


def test_steps_are_traced_once_and_only_the_wrapped_optimiser_averages():
    """After two steps on different batches the ranks' output biases agree with Horovod, and differ without."""
    (traced, together), (_, peer) = ranks.run(step_facts, True, timeout_s=120, seed=1)
    assert traced == 1
    np.testing.assert_allclose(together, peer, atol=1e-7)
    (_, alone), (_, other) = ranks.run(step_facts, False, timeout_s=120, seed=1)
    assert np.abs(alone - other).max() > 1e-6


def test_the_pipeline_gives_images_and_labels_of_the_files():
    """Pixels lie in -1 to 1, and one pass over the files gives each label as often as their records do."""
    files = list_files(find_data(), "train")[:2]
    labels = [int(parse_record(record)[1]) for file in files for record in read_records(file).as_numpy_iterator()]
    batches = list(training_batches(files, 32, 1).take(len(labels)).as_numpy_iterator())
    images = np.concatenate([images for images, _ in batches])
    assert images.shape == (len(labels), 32, 32, 3)
    assert -1 <= images.min() < 0 < images.max() <= 1
    assert sorted(int(label[0]) + 1 for _, label in batches) == sorted(labels)


def test_steps_from_files_are_measured_beside_steps_from_memory():
    """Each rank returns its seconds of both, the first step included."""
    folder = str(find_data())
    for timings in ranks.run(compare_with_memory, TINY, folder, timeout_s=120):
        assert {name: len(seconds) for name, seconds in timings.items()} == {
            "images in memory": 5,  # the first, and two turns of two steps
            "TFRecord files": 5,
        }
