"""Measure the GPU memory of a training step: `python -m workshop.bench.gpu_memory` writes `gpu_memory.toml`.

The step is lab 03's on one rank: SGD with momentum, and the accuracy.
Each network trains in a separate process, so that one that runs out of memory takes nothing from the next.
"""

from __future__ import annotations

from multiprocessing import get_context
from typing import Any

from coursekit.files import write_text
from coursekit.imagenet.networks import NUM_CLASSES, build_network
from coursekit.labs.run.results import gather_facts
from coursekit.paths import find_root

NETWORKS = (("MobileNetV2", 224), ("ResNet50", 224), ("InceptionV3", 299), ("VGG16", 224))
PRECISIONS = ("float32", "mixed_float16")
BATCH_SIZES = (16, 32, 64, 128, 256)
LIMITS_MBYTE = (0, 16_000, 32_000)  # of 2^20 bytes; 0 for the whole GPU
NUM_STEPS = 3  # after the first


def measure(name: str, image_size: int, precision: str, limit_mbyte: int) -> list[str]:
    """Return a row for each batch size, up to the first that does not fit."""
    import tensorflow as tf  # takes seconds, and the GPU

    gpu = tf.config.list_physical_devices("GPU")[0]
    if limit_mbyte:
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(limit_mbyte)])
    else:
        tf.config.experimental.set_memory_growth(gpu, True)
    tf.keras.mixed_precision.set_global_policy(precision)
    network = build_network(name, image_size)
    loss, rows = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), []
    network.compile(tf.keras.optimizers.SGD(0.01, momentum=0.9), loss, metrics=["accuracy"])
    for batch_size in BATCH_SIZES:
        images = tf.random.uniform((batch_size, image_size, image_size, 3))
        labels = tf.random.uniform((batch_size,), 0, NUM_CLASSES, tf.int32)
        try:
            found = peaks(network, images, labels)
        except (tf.errors.ResourceExhaustedError, tf.errors.NotFoundError):  # no memory, or none for any algorithm
            found = {}
        numbers = ", ".join(f"{key} = {value}" for key, value in found.items()) or "fits = false"
        which = f'network = "{name}", image_size = {image_size}, precision = "{precision}", limit_mbyte = {limit_mbyte}'
        rows.append(f"{{ {which}, batch_size = {batch_size}, {numbers} }}")
        if not found:
            break
    return rows


def peaks(network: Any, images: Any, labels: Any) -> dict[str, int]:
    """Return the byte counts of a row, from a few steps on these images."""
    import tensorflow as tf  # takes seconds, and the GPU

    step = tf.function(lambda images, labels: network.train_step((images, labels)))
    memory, found = tf.config.experimental, {}
    for key, num_steps in (("first_step", 1), ("peak", NUM_STEPS)):
        memory.reset_memory_stats("GPU:0")
        for _ in range(num_steps):
            float(step(images, labels)["loss"])  # waits until the step has ended
        found[key] = memory.get_memory_info("GPU:0")["peak"]
    return {**found, "lasting": memory.get_memory_info("GPU:0")["current"]}


def main() -> None:
    """Measure all cases, and write the rows into the file, below its comments."""
    facts = gather_facts(root := find_root())
    tasks = [(*network, one, limit) for network in NETWORKS for one in PRECISIONS for limit in LIMITS_MBYTE]
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        rows = [row for rows in pool.starmap(measure, tasks, 1) for row in rows]
    path = root / "src/coursekit/scaling/gpu_memory.toml"
    comments = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    versions = ", ".join(f"{package} {number}" for package, number in facts.versions.items())
    head = [*comments, f'gpu = "{facts.device}"', f'versions = "{versions}"']
    write_text(path, "\n".join([*head, "rows = [", *(f"    {row}," for row in rows), "]"]) + "\n")


if __name__ == "__main__":
    main()
