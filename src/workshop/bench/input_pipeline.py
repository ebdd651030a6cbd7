"""The input benchmark: does reading and decoding TFRecord files keep up with the laptop's network?"""

from __future__ import annotations

from typing import Any

from coursekit import imagenet
from workshop.bench.communication import CYCLE, series_of
from workshop.bench.measurement import Measurement, Progress, compare
from workshop.bench.steps import (
    Case,
    Step,
    bind_to_cores,
    compiled_network,
    limit_threads,
    mean_over_ranks,
    memory_batch,
    repeated,
    run_steps,
    time_in_turns,
    training_step,
)

MEMORY, FILES = "images in memory", "TFRecord files"
NUM_STEPS = 10
SHUFFLE_BUFFER = 1000


def measure_input(repeat: int, progress: Progress) -> Measurement:
    """Train on two ranks without communication, on one thread each, from memory and from synthetic files in turns."""
    folder = str(imagenet.find_data())
    case = Case("MobileNetV2", 96, 16, repeat, NUM_STEPS)
    progress("images in memory and in files")
    timings = mean_over_ranks(run_steps(compare_with_memory, case, folder, environ=CYCLE))
    title = f"a training step of {case.network}, {case.image_size} px, batch {case.batch_size}, from synthetic files"
    return compare(title, series_of(timings, MEMORY, [*timings]))


def compare_with_memory(case: Case, folder: str) -> dict[str, list[float]]:
    """Return the seconds of this rank's steps on images in memory, and on images read from its files."""
    bind_to_cores()
    import horovod.tensorflow as hvd  # ranks have imported it, but the benchmark's process has not

    limit_threads()
    hvd.init()
    files = imagenet.list_files(folder, "train")[hvd.rank() :: hvd.size()]

    def kind(dataset: Any) -> Step:
        return training_step(compiled_network(case, lambda optimizer: optimizer, traced_once=True), dataset)

    return time_in_turns(
        case,
        {
            MEMORY: lambda: kind(repeated(memory_batch(case))),
            FILES: lambda: kind(training_batches(files, case.image_size, case.batch_size)),
        },
    )


def training_batches(files: list[str], image_size: int, batch_size: int) -> Any:
    """Return endless batches for training, as in lab 03: read, shuffled, cropped at random, decoded and mirrored.

    Images are float32 of shape (batch, image_size, image_size, 3), from -1 to 1; labels from 1 to 1000 become 0 to
    999, for networks without a background class.
    """
    import tensorflow as tf  # only ranks make data sets

    def load(record: Any) -> tuple[Any, Any]:
        encoded, label = imagenet.parse_record(record)
        image = tf.io.decode_and_crop_jpeg(encoded, random_window(encoded), channels=3)
        image = tf.image.resize(image, (image_size, image_size))
        return tf.image.random_flip_left_right(image) / 127.5 - 1, label - 1

    dataset = tf.data.Dataset.from_tensor_slices(files).shuffle(len(files))
    dataset = dataset.interleave(imagenet.read_records, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(SHUFFLE_BUFFER).repeat()
    dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def random_window(encoded: Any) -> Any:
    """Return where to crop a JPEG: y, x, height, width; the crop has 40 to 100 % of its area."""
    import tensorflow as tf  # as above

    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(encoded),
        bounding_boxes=tf.zeros((1, 0, 4)),
        area_range=(0.4, 1.0),
        aspect_ratio_range=(3 / 4, 4 / 3),
        use_image_if_no_bounding_boxes=True,
    )
    return tf.concat([begin[:2], size[:2]], axis=0)
