"""Checks of the stages of lab 03's pipeline, which show what its batches do not: speed, memory and damaged files.

Example: the lab's pipeline for training is made of file names, a shuffle, an interleave of 4, a shuffle in a buffer of
1000, a repeat, a parallel map, batches and a prefetch. All stages before the map yield text: file names, then records.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from coursekit.checks.check import require

Stages = Sequence[Mapping[str, Any]]  # see `drivers.lab03_data.stages`
BUFFER = 1000  # records
NUM_FILES = 4  # that are read at a time
# The place of the cycle length among the numbers of a stage; the block length comes next.
PLACES_OF_CYCLE = {"InterleaveDataset": -2, "ParallelInterleaveDatasetV4": -5}


def check_made_in_order(made_of: Mapping[str, Any]) -> None:
    """If a deterministic order is requested, no stage takes records as they arrive."""
    message = "with deterministic=True the pipeline takes records as they come: hand deterministic on"
    require(all(stage["is_ordered"] for stage in made_of["stages"]), message, "order.not-deterministic")


def check_stages(made_of: Mapping[str, Mapping[str, Any]], batch_size: int, *, are_files_shuffled: bool) -> None:
    """The pipeline has the stages that the lab requires, and uses its arguments."""
    training, validation, asked = (made_of[way]["stages"] for way in ("training", "validation", "asked"))
    for way, stages in (("training", training), ("validation", validation)):
        _check_reading(stages, way, batch_size)
        message = f"the images for {way} are loaded by one core: map with num_parallel_calls=tf.data.AUTOTUNE"
        require(not stages or _loading(stages)["kind"] != "MapDataset", message, "images.one-core")
        kinds = [stage["kind"] for stage in stages if "Options" not in stage["kind"]]
        message = f"the batches for {way} are not made ahead: end with prefetch(tf.data.AUTOTUNE)"
        require("Prefetch" in kinds[-1], message, "batches.no-prefetch")
    message = "the files are not shuffled for training, only their records"
    require(are_files_shuffled, message, "files.not-shuffled")
    first = next(number for number, stage in enumerate(training) if "Interleave" in stage["kind"])
    shuffles = [stage for stage in training[first:] if "Shuffle" in stage["kind"]]
    message = f"images are shuffled, and not records: a buffer of {BUFFER} images takes far more memory"
    require(all(stage["is_text"] for stage in shuffles), message, "order.loaded-first")
    largest = max((stage["numbers"][0] or BUFFER for stage in shuffles), default=BUFFER)
    message = f"the records are shuffled in a buffer of {largest}, expected {BUFFER}"
    require(largest >= BUFFER, message, "order.small-buffer")
    message = "the data for validation are shuffled, expected them as they come"
    require(not any("Shuffle" in stage["kind"] for stage in validation), message, "validation.shuffled")
    message = "with deterministic=False interleave still waits for the next record in order: hand deterministic on"
    waits = any(stage["is_ordered"] for stage in asked if "Interleave" in stage["kind"])
    require(not waits, message, "order.always-deterministic")
    message = 'where damaged is "{}", a damaged record {}: hand damaged to imagenet.read_records'
    require(made_of["asked"]["skips"], message.format("skip", "ends the run"), "records.not-skipped")
    require(not made_of["training"]["skips"], message.format("stop", "is skipped"), "records.skipped")


def _check_reading(stages: Stages, way: str, batch_size: int) -> None:
    """Several files are read at once, and no file provides a whole batch."""
    reading = [stage for stage in stages if "Interleave" in stage["kind"]]
    places = [(stage["numbers"], PLACES_OF_CYCLE.get(stage["kind"])) for stage in reading]
    cycles, blocks = zip(*((one[at], one[at + 1]) if at else (None, 1) for one, at in places)) if places else ((), ())
    message = f"the files for {way} are read one after the other: interleave with cycle_length=4"
    require(any(cycle != 1 for cycle in cycles), message, "files.not-interleaved")
    cycle = next((cycle for cycle in cycles if cycle is not None), NUM_FILES)
    message = f"for {way}, records come from {cycle} files at a time instead of {NUM_FILES}: use cycle_length=4"
    require(cycle == NUM_FILES, message, "files.other-number")
    message = f"a whole batch of {batch_size} images for {way} comes from one file: interleave without block_length"
    require(max(blocks) < batch_size, message, "files.in-blocks")


def _loading(stages: Stages) -> Mapping[str, Any]:
    """Return the stage that loads the images, which is the first stage that does not yield text."""
    return next(stage for stage in stages if not stage["is_text"])
