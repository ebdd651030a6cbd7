"""What the order of a tf.data pipeline does to its speed, measured in turns, and to what the network gets to see."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow as tf

from coursekit import imagenet
from coursekit.imagenet.make import PRESETS, Preset, Split, images, plan
from coursekit.imagenet.records import write_images

CAMERA = PRESETS["bench"]  # images as a camera takes them, 500 pixels wide or high
PRESET = Preset("slides", (Split("train", 16, 192), Split("validation", 1, 1)), 50, CAMERA.sizes, 28, 95, 0)
SIDE = 224
BATCH = 16
STEP_S = 0.01  # of a network on an accelerator: the processor waits
NUM_ROUNDS = 4
NUM_BATCHES, NUM_READY = 24, 6
AUTO = tf.data.AUTOTUNE


def make_files(folder):
    """Write the training files, and return their paths."""
    files = [file for file in plan(PRESET) if file.name.startswith("train")]
    return [str(write_images(folder / file.name, images(PRESET, file), PRESET.quality)) for file in files]


def decode(record):
    """Return the picture of a record, decoded and brought to one size: the dear part, the same in every epoch."""
    encoded, label = imagenet.parse_record(record)
    return tf.cast(tf.image.resize(tf.io.decode_jpeg(encoded, channels=3), (SIDE, SIDE)), tf.uint8), label


def change(picture, label):
    """Return the picture changed at random: the cheap part, another one in every epoch."""
    return tf.cast(tf.image.random_flip_left_right(picture), tf.float32) / 127.5 - 1, label


def ways(files):
    """Return the pipelines to compare, by name."""
    names = tf.data.Dataset.from_tensor_slices(files)
    apart = names.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=AUTO)
    decoded = apart.map(decode, num_parallel_calls=AUTO)

    def rest(dataset):
        return dataset.map(change, num_parallel_calls=AUTO).batch(BATCH)

    one_at_a_time = names.interleave(tf.data.TFRecordDataset, cycle_length=4).map(decode).map(change).batch(BATCH)
    as_written = {
        "nothing": one_at_a_time,
        "prefetch": one_at_a_time.prefetch(AUTO),
        "parallel map": rest(decoded),
        "parallel map, prefetch": rest(decoded).prefetch(AUTO),
        "cache of the records": rest(apart.cache().map(decode, num_parallel_calls=AUTO)).prefetch(AUTO),
        "cache of the pictures": rest(decoded.cache()).prefetch(AUTO),
    }
    # Otherwise TensorFlow puts in what it misses: maps without random numbers become parallel, maps and batches one
    # station that works ahead, and a prefetch comes at the end.
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    return {
        **{name: dataset.with_options(options) for name, dataset in as_written.items()},
        "nothing, mended": one_at_a_time,
    }


def speed(iterator, num_batches):
    """Train on some batches a network that only takes time, and return the images per second."""
    start, num_seen = time.perf_counter(), 0
    for _ in range(num_batches):
        num_seen += len(next(iterator)[0])
        time.sleep(STEP_S)
    return num_seen / (time.perf_counter() - start)


def speeds(files):
    """Return the images per second of every way: the median of its turns, after a first epoch."""
    iterators = {name: iter(dataset.repeat()) for name, dataset in ways(files).items()}
    for iterator in iterators.values():
        speed(iterator, NUM_BATCHES)  # fills caches, and lets TensorFlow find its settings
    found = {name: [] for name in iterators}
    for _ in range(NUM_ROUNDS):  # in turns, so that a busy moment hits all
        for name, iterator in iterators.items():
            speed(iterator, NUM_READY)  # batches that lay ready
            found[name].append(speed(iterator, NUM_BATCHES))
    return [{"way": name, "later": round(statistics.median(values), 1)} for name, values in found.items()]


def scale_speeds():
    """Return elements per second when a cheap map comes before batching, and after it."""
    digits = tf.data.Dataset.from_tensor_slices(np.zeros((20_000, 28, 28, 1), "uint8")).cache()

    def scale(pixels):
        return tf.cast(pixels, tf.float32) / 255

    orders = {"before": digits.map(scale).batch(128), "after": digits.batch(128).map(scale)}
    seconds = {name: [] for name in orders}
    for _ in range(NUM_ROUNDS):
        for name, dataset in orders.items():
            start = time.perf_counter()
            num_batches = sum(1 for _ in dataset)
            seconds[name].append((time.perf_counter() - start) / num_batches)
    return {name: float(f"{128 / statistics.median(taken):.3g}") for name, taken in seconds.items()}


def order_of(dataset):
    """Return what a data set gives in one epoch, flat."""
    return np.concatenate([np.atleast_1d(one) for one in dataset.as_numpy_iterator()]).tolist()


def frozen_order():
    """Return two epochs of each: cached before shuffling, and after."""
    tf.random.set_seed(1)
    numbers = tf.data.Dataset.range(16)
    right, wrong = numbers.cache().shuffle(16, seed=1), numbers.shuffle(16, seed=1).cache()
    return {name: [order_of(one), order_of(one)] for name, one in (("right", right), ("wrong", wrong))}


def frozen_pictures(file, num_epochs=5):
    """Return how many different images the network sees of one record in some epochs."""
    record = tf.data.TFRecordDataset(file).take(1).map(decode)

    def cut(picture, label):
        return tf.image.random_crop(picture, (96, 96, 3)), label

    def num_seen(dataset):
        return len({picture.tobytes() for picture, _ in dataset.repeat(num_epochs).as_numpy_iterator()})

    def num_seen_afresh(dataset):
        return len({next(dataset.as_numpy_iterator())[0].tobytes() for _ in range(num_epochs)})

    found = {
        "epochs": num_epochs,
        "right": num_seen(record.cache().map(cut)),
        "wrong": num_seen(record.map(cut).cache()),
    }
    # With a seed for all, each new pass over the data set begins with the same random numbers.
    tf.random.set_seed(1)
    found["seeded"] = num_seen_afresh(record.map(cut))
    found["seeded_repeat"] = num_seen(record.map(cut))
    return found


def mates(num_elements=1024, batch_size=16):
    """Return the share of pairs of one batch that meet again in the next epoch."""
    tf.random.set_seed(1)
    numbers = tf.data.Dataset.range(num_elements)
    orders = {
        "right": numbers.shuffle(num_elements, seed=1).batch(batch_size),
        "wrong": numbers.batch(batch_size).shuffle(num_elements // batch_size, seed=1),
    }

    def pairs(dataset):
        return {
            (a, b) for batch in dataset.as_numpy_iterator() for a in batch.tolist() for b in batch.tolist() if a < b
        }

    shares = {}
    for name, dataset in orders.items():
        one, other = pairs(dataset), pairs(dataset)
        shares[name] = round(len(one & other) / len(one), 4)
    return shares


def shards(num_elements=1000, num_ranks=4):
    """Return how often the ranks together read a sample in an epoch, for the ways to shard."""
    numbers = tf.data.Dataset.range(num_elements)

    def count(make):
        read = np.concatenate([order_of(make(rank)) for rank in range(num_ranks)])
        times = np.bincount(read, minlength=num_elements)
        return [int((times == number).sum()) for number in range(num_ranks + 1)]

    def unseeded(rank):
        tf.random.set_seed(rank)  # as four processes have it, each with its own random numbers
        return numbers.shuffle(num_elements).shard(num_ranks, rank)

    return {
        "elements": num_elements,
        "ranks": num_ranks,
        "shard, shuffle": count(lambda rank: numbers.shard(num_ranks, rank).shuffle(num_elements)),
        "shuffle, shard": count(unseeded),
    }


def reads(files, num_ranks=4):
    """Return what rank 0 of some reads: records, and files opened, when it shards records, and when files."""
    opened, read = [], []

    def noted(names, kept):
        """Return a data set that keeps what passes."""

        def keep(value):
            kept.append(value)
            return value

        @tf.autograph.experimental.do_not_convert
        def watch(value):
            return tf.numpy_function(keep, [value], tf.string)

        return names.map(watch)

    def through(names):
        return noted(noted(names, opened).flat_map(tf.data.TFRecordDataset), read)

    names = tf.data.Dataset.from_tensor_slices(files)
    found = {"files": len(files), "ranks": num_ranks}
    orders = {"shard records": through(names).shard(num_ranks, 0), "shard files": through(names.shard(num_ranks, 0))}
    for name, dataset in orders.items():
        opened.clear()
        read.clear()
        num_used = sum(1 for _ in dataset)
        found[name] = {"opened": len(opened), "read": len(read), "used": num_used}
    return found


def record():
    """Make files, time the pipelines, and look at what wrong orders give."""
    with tempfile.TemporaryDirectory() as folder:
        files = make_files(Path(folder))
        return {
            "images": PRESET.splits[0].num_images,
            "batch_size": BATCH,
            "step_ms": round(1000 * STEP_S),
            "limit": round(BATCH / STEP_S),
            "speeds": speeds(files),
            "scale": scale_speeds(),
            "frozen_pictures": frozen_pictures(files[0]),  # first: the others seed all random numbers
            "frozen_order": frozen_order(),
            "mates": mates(),
            "shards": shards(),
            "reads": reads(files),
        }
