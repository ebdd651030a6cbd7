"""Checks of lab 04 on data: the split of the files, and the input function."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.knowledge import secrets
from coursekit.checks.on_ranks import call_here
from coursekit.checks.shards import check_owners
from coursekit.checks.spy_trial import SAMPLES_PER_FILE, owners, samples_read, try_pipeline
from coursekit.drivers import estimator_ranks
from coursekit.drivers.calls import call
from coursekit.drivers.keras_ranks import NUM_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.spy_trial import SpyTrial
    from coursekit.drivers.spy import Array


def check_split_files(split_files: Callable[..., Any], cases: Sequence[tuple[int, int]]) -> None:
    """Every file is in one part, and in one only; `cases` are numbers of files and of those held out."""
    for num_files, num_held_out in cases:
        files = [f"train-{number:05d}-of-{num_files:05d}" for number in range(num_files)]
        parts = call_here(call, split_files, list(files), num_held_out)
        is_pair = isinstance(parts, (tuple, list)) and len(parts) == 2  # noqa: PLR2004
        require(is_pair, f"split_files must return two lists of files, not {parts!r}")
        training, held_out = map(list, parts)
        both = sorted(set(training) & set(held_out))
        neither = sorted(set(files) - set(training) - set(held_out))
        where = f"of {num_files} files, {num_held_out} held out,"
        require(not neither, f"{where} {_some(neither)} in neither part")
        require(not both, f"{where} {_some(both)} in both parts")
        has_sizes = len(held_out) == num_held_out and len(training) == num_files - num_held_out
        require(has_sizes, f"{where} the parts have {len(training)} and {len(held_out)} files")
        again = tuple(map(list, call_here(call, split_files, list(files), num_held_out)))
        require(again == (training, held_out), "two calls split differently: all ranks need the same split")


def _some(files: Sequence[str]) -> str:
    return f"{files[0]} is" if len(files) == 1 else f"{len(files)} files, such as {files[0]}, are" if files else ""


def try_input_fn(input_fn: Callable[..., Any], num_ranks: int = 2) -> SpyTrial:
    """Read tiny files on real ranks with the answer's pipeline."""
    told = secrets(num_ranks, NUM_CLASSES, files={"train": SAMPLES_PER_FILE})
    return try_pipeline(estimator_ranks.read, input_fn, num_ranks=num_ranks, secrets=told)


def check_shards(trial: SpyTrial) -> None:
    """Every file is read by one worker, in training and in evaluation."""
    num_samples = sum(SAMPLES_PER_FILE)
    for way in ("training", "evaluation"):
        samples = samples_read(trial, way)
        used = owners(samples, num_samples)
        ends = np.cumsum((0, *SAMPLES_PER_FILE))
        readers = [
            {rank for sample in range(first, last) for rank in used[sample]} for first, last in zip(ends, ends[1:])
        ]
        # Whether an evaluation is complete is another property, see check_modes.
        asked = used if way == "training" else {sample: by for sample, by in used.items() if by}
        check_owners(asked, trial.num_ranks)
        several = [number for number, by in enumerate(readers) if len(by) > 1]
        require(
            not several,
            f"the samples are shared out, but file {several[:1]} is read by several ranks ({way}): "
            "shard the list of files, before they are read",
        )


def check_modes(trial: SpyTrial) -> None:
    """For training: shuffled anew in every epoch, full batches, without end. For evaluation: each image once."""
    for rank, result in enumerate(trial.of_ranks()):
        for way, batches in result.items():
            for numbers, labels in batches:
                right = np.array_equal(np.ravel(labels), numbers + 1)
                require(right, f"on rank {rank} images and labels ({way}) do not belong together")
        evaluation = Counter(np.concatenate([numbers for numbers, _ in result["evaluation"]] or [[]]).tolist())
        ends = len(result["evaluation"]) < estimator_ranks.NUM_BATCHES
        require(ends, f"the data for evaluation of rank {rank} have no end: do not repeat them")
        most = max(evaluation.values(), default=0)
        require(most <= 1, f"in an evaluation rank {rank} sees an image {most} times")
        training = [numbers for numbers, _ in result["training"]]
        require(
            len(training) == estimator_ranks.NUM_BATCHES,
            f"the data for training of rank {rank} end after {len(training)} batches: repeat them without end",
        )
        _check_shuffled(np.concatenate(training), len(evaluation))
    used, evaluated = (set(np.concatenate(samples_read(trial, way)).tolist()) for way in ("training", "evaluation"))
    lost = used - evaluated
    require(not lost, f"an evaluation on all ranks leaves out {len(lost)} of {len(used)} images: all count")


def _check_shuffled(order: Array, num_mine: int) -> None:
    first, second = order[:num_mine], order[num_mine : 2 * num_mine]
    in_order = int(np.sum(np.diff(first) == 1))  # neighbours in a file that are still neighbours
    require(in_order < num_mine / 2, "the data for training come in the order of the files: shuffle the records")
    require(not np.array_equal(first, second), "every epoch comes in the same order: shuffle, and then repeat")
