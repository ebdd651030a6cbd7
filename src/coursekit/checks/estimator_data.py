"""Checks of lab 04 on data: the split of the files, and the input function."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import CheckError, require
from coursekit.checks.knowledge import batches_in_files, secrets
from coursekit.checks.on_ranks import call_here
from coursekit.checks.plain_numbers import as_list, as_lists, told
from coursekit.checks.shards import check_owners
from coursekit.checks.spy_trial import owners, samples_read, try_on_ranks
from coursekit.drivers import estimator_ranks
from coursekit.drivers.estimator_ranks import BATCH_SIZE, NUM_BATCHES
from coursekit.drivers.keras_spy import NUM_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.spy_trial import SpyTrial
    from coursekit.drivers.spy import Array

SAMPLES_PER_FILE = (9, 7, 10, 8, 8, 9, 8)  # no number of workers divides the files, and shards have no whole batches
LEAST_LEAD = 4  # by so many places some record comes early when all are shuffled; with a buffer of two by one
# Whether to read for training, and params["seed"]; all workers read in both modes, and the first with these seeds.
MODES = {"evaluation": (False, 3), "training": (True, 3)}
SEEDS = {"again": (True, 3), "other seed": (True, 4)}


def check_split_files(split_files: Callable[..., Any], cases: Sequence[tuple[int, int]]) -> None:
    """Every file is in one part, the last ones are held out; `cases` are numbers of files and of those held out."""
    for num_files, num_held_out in cases:
        files = [f"train-{number:05d}-of-{num_files:05d}" for number in range(num_files)]
        reply, after = call_here(estimator_ranks.split, split_files, list(files), num_held_out)
        parts = as_list(reply, "what split_files returns")
        require(len(parts) == 2, f"split_files: expected two lists of files, got {told(reply)}")  # noqa: PLR2004
        training, held_out = (as_list(part, "each part of the files") for part in parts)
        both = sorted(set(training) & set(held_out))
        neither = sorted(set(files) - set(training) - set(held_out))
        where = f"of {num_files} files, {num_held_out} held out,"
        require(not neither, f"{where} {_some(neither)} in neither part")
        require(not both, f"{where} {_some(both)} in both parts")
        sizes, expected = (len(training), len(held_out)), (num_files - num_held_out, num_held_out)
        require(sizes == expected, f"{where} expected parts of {expected} files, got {sizes}")
        is_last = set(held_out) == set(files[num_files - num_held_out :])
        require(is_last, f"{where} expected the last files held out, got {told(held_out)}")
        require(list(after) == files, f"the list that is given has {len(after)} files afterwards: make new lists")
        again = call_here(estimator_ranks.split, split_files, list(files), num_held_out)[0]
        same = [list(part) for part in again] == [training, held_out]
        require(same, "two calls split differently: all ranks need the same split")


def _some(files: Sequence[str]) -> str:
    return f"{files[0]} is" if len(files) == 1 else f"{len(files)} files, such as {files[0]}, are" if files else ""


def try_input_fn(input_fn: Callable[..., Any], num_workers: int = 3) -> SpyTrial:
    """Read tiny files with the answer's pipeline, on one real rank that takes the part of each worker in turn.

    So whoever asks Horovod instead of the arguments takes every worker for the same.
    The results are of the workers.
    """
    given = secrets(1, NUM_CLASSES, files={"train": SAMPLES_PER_FILE})
    ways = [(worker, way) for worker in range(num_workers) for way in (MODES if worker else MODES | SEEDS)]
    jobs = [(worker, *(MODES | SEEDS)[way]) for worker, way in ways]
    trial = try_on_ranks(estimator_ranks.read, input_fn, num_workers, jobs, num_ranks=1, secrets=given)
    if trial.error:
        return trial
    results: list[dict[str, Any]] = [{"mirrored": {}} for _ in range(num_workers)]
    try:
        for (worker, way), (pairs, tilts) in zip(ways, as_lists(trial.results, len(jobs), "what the workers read")[0]):
            results[worker][way] = batches_in_files(pairs, given[0])
            results[worker]["mirrored"][way] = np.concatenate([[], *tilts]) < 0
    except (CheckError, AttributeError, LookupError, TypeError, ValueError):
        return replace(trial, results=(), error="the pipeline did not give batches of images and labels")
    return replace(trial, num_ranks=num_workers, results=tuple(results))


def check_shards(trial: SpyTrial) -> None:
    """Every file is read by one worker, in training and in evaluation."""
    num_samples, file_of = sum(SAMPLES_PER_FILE), np.repeat(np.arange(len(SAMPLES_PER_FILE)), SAMPLES_PER_FILE)
    for way in ("training", "evaluation"):
        used = owners(samples_read(trial, way), num_samples)
        by_file = [
            [used[sample] for sample in np.flatnonzero(file_of == file)] for file in range(len(SAMPLES_PER_FILE))
        ]
        readers = [sorted({rank for by in of_file for rank in by}) for of_file in by_file]
        # Only whole files count: whether each of their images comes is another property, see check_modes.
        check_owners({sample: by or readers[file_of[sample]][:1] for sample, by in used.items()}, trial.num_ranks)
        several = [number for number, by in enumerate(readers) if len(by) > 1]
        require(
            not several,
            f"the samples are shared out, but file {several[:1]} is read by several ranks ({way}): "
            "shard the list of files, before they are read",
        )


def check_modes(trial: SpyTrial) -> None:
    """For training: shuffled anew in every epoch, full batches, without end. For evaluation: each image once."""
    for worker, result in enumerate(trial.of_ranks()):
        for way in MODES:
            for numbers, labels in result[way]:
                right = np.array_equal(np.ravel(labels), numbers + 1)
                require(right, f"on worker {worker} images and labels ({way}) do not belong together")
        ends = len(result["evaluation"]) < NUM_BATCHES
        require(ends, f"the data for evaluation of worker {worker} have no end: do not repeat them")
        evaluation = Counter(np.concatenate([numbers for numbers, _ in result["evaluation"]] or [[]]).tolist())
        most = max(evaluation.values(), default=0)
        require(most <= 1, f"in an evaluation worker {worker} sees an image {most} times, expected once")
        _check_training(worker, result)
    _check_seeds(trial.of_ranks()[0])
    lead = max(_lead(result) for result in trial.of_ranks())
    require(lead >= LEAST_LEAD, f"no record comes more than {lead} places early: shuffle in a buffer of 1000")
    used, evaluated = (set(np.concatenate(samples_read(trial, way)).tolist()) for way in ("training", "evaluation"))
    lost = used - evaluated
    require(not lost, f"an evaluation by all workers leaves out {len(lost)} of {len(used)} images: all count")
    cut = {way: np.concatenate([result["mirrored"][way] for result in trial.of_ranks()]) for way in MODES}
    is_cut = "cut and mirrored at random, as for the other mode: hand `training` on"
    require(not cut["evaluation"].any(), f"the images for evaluation are {is_cut}")
    require(cut["training"].any() and not cut["training"].all(), f"the images for training are not {is_cut}")


def _check_training(worker: int, result: dict[str, Sequence[Any]]) -> None:
    found = len(result["training"])
    hint = "repeat them without end"
    require(found == NUM_BATCHES, f"the data for training of worker {worker} end after {found} batches: {hint}")
    sizes = sorted({len(numbers) for numbers, _ in result["training"]})
    require(sizes == [BATCH_SIZE], f"batches for training: expected {BATCH_SIZE} images in each, got {sizes}")
    first, second = _epochs(result)
    in_order = int(np.sum(np.diff(first) == 1))  # neighbours in a file that are still neighbours
    require(in_order < len(first) / 2, "the data for training come in the order of the files: shuffle the records")
    is_epoch = len(set(first.tolist())) == len(first)
    require(is_epoch, "some images come twice before others come once: shuffle, and then repeat")
    require(not np.array_equal(first, second), "every epoch comes in the same order: shuffle, and then repeat")


def _check_seeds(result: dict[str, Sequence[Any]]) -> None:
    order, again, other = (
        np.concatenate([numbers for numbers, _ in result[way]]) for way in ("training", "again", "other seed")
    )
    require(np.array_equal(order, again), "two runs see different orders: give the shuffle the seed of `params`")
    depends = not np.array_equal(order, other)
    require(depends, 'another params["seed"] gives the same order: shuffle with that seed, and with no other')


def _epochs(result: dict[str, Sequence[Any]]) -> tuple[Array, Array]:
    """Return the samples of a worker's first and second epoch."""
    order = np.concatenate([numbers for numbers, _ in result["training"]])
    num_mine = len(set(order.tolist()))
    return order[:num_mine], order[num_mine : 2 * num_mine]


def _lead(result: dict[str, Sequence[Any]]) -> int:
    """Return by how many places a record of the first epoch comes earlier than in an evaluation, at most."""
    read = np.concatenate([numbers for numbers, _ in result["evaluation"]] or [[]]).tolist()
    return max((read.index(one) - place for place, one in enumerate(_epochs(result)[0]) if one in read), default=0)
