"""Checks of lab 04: splits, pipeline, model function, configuration, training, evaluation, and workers of a strategy."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks import estimator_ranks, spy
from coursekit.checks.check import require
from coursekit.checks.on_ranks import run_here, with_horovod
from coursekit.checks.pieces import check_owners
from coursekit.checks.spy_trial import owners, try_on_ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.checks.spy_trial import Trial

Array = np.ndarray[Any, Any]

SAMPLES_PER_FILE = (5, 3, 6, 4, 2, 4)  # unequal, as in ImageNet
HELD_OUT_PER_FILE = (5, 3, 2)
ANSWER = 2  # the sample that the spy of an evaluation takes all others for; it is in the first file


def check_split_files(split_files: Callable[..., Any], cases: Sequence[tuple[int, int]]) -> None:
    """Every file is in one part, and in one only; `cases` are numbers of files and of those held out."""
    for num_files, num_held_out in cases:
        files = [f"train-{number:05d}-of-{num_files:05d}" for number in range(num_files)]
        parts = split_files(list(files), num_held_out)
        require(
            isinstance(parts, (tuple, list)) and len(parts) == 2,  # noqa: PLR2004
            f"split_files must return two lists of files, not {parts!r}",
        )
        training, held_out = map(list, parts)
        both = sorted(set(training) & set(held_out))
        neither = sorted(set(files) - set(training) - set(held_out))
        where = f"of {num_files} files, {num_held_out} held out,"
        require(not neither, f"{where} {_some(neither)} in neither part")
        require(not both, f"{where} {_some(both)} in both parts")
        require(
            len(held_out) == num_held_out and len(training) == num_files - num_held_out,
            f"{where} the parts have {len(training)} and {len(held_out)} files",
        )
        require(tuple(map(list, split_files(list(files), num_held_out))) == (training, held_out), "the split is random: "
                "every rank would draw its own")  # fmt: skip


def _some(files: Sequence[str]) -> str:
    return f"{files[0]} is" if len(files) == 1 else f"{len(files)} files, such as {files[0]}, are" if files else ""


def try_input_fn(input_fn: Callable[..., Any], num_ranks: int = 2) -> Trial:
    """Read tiny files on real ranks with the answer's pipeline."""
    with tempfile.TemporaryDirectory() as folder:
        files = spy.write_samples(Path(folder), SAMPLES_PER_FILE)
        return try_on_ranks(with_horovod, estimator_ranks.read, input_fn, files, num_ranks=num_ranks)


def _samples(trial: Trial, way: str) -> list[Array]:
    """Return the samples of each rank, in their order."""
    return [np.concatenate([numbers for numbers, _ in result[way]] or [[]]) for result in trial.of_ranks()]


def check_shards(trial: Trial) -> None:
    """Every file is read by one worker, in training and in evaluation."""
    num_samples = sum(SAMPLES_PER_FILE)
    for way in ("training", "evaluation"):
        samples = _samples(trial, way)
        used = owners(samples, num_samples)
        ends = np.cumsum((0, *SAMPLES_PER_FILE))
        readers = [
            {rank for sample in range(first, last) for rank in used[sample]} for first, last in zip(ends, ends[1:])
        ]
        check_owners(used, trial.num_ranks)
        several = [number for number, by in enumerate(readers) if len(by) > 1]
        require(
            not several,
            f"the samples are shared out, but file {several[:1]} is read by several ranks ({way}): "
            "shard the list of files, before they are read",
        )


def check_modes(trial: Trial) -> None:
    """For training: shuffled anew in every epoch, full batches, without end. For evaluation: each picture once."""
    for rank, result in enumerate(trial.of_ranks()):
        for way, batches in result.items():
            for numbers, labels in batches:
                right = np.array_equal(np.ravel(labels), numbers + 1)
                require(right, f"on rank {rank} pictures and labels ({way}) do not belong together")
        evaluation = Counter(np.concatenate([numbers for numbers, _ in result["evaluation"]] or [[]]).tolist())
        ends = len(result["evaluation"]) < estimator_ranks.NUM_BATCHES
        require(ends, f"the data for evaluation of rank {rank} have no end: do not repeat them")
        require(
            set(evaluation.values()) <= {1},
            f"in an evaluation rank {rank} sees a picture {max(evaluation.values(), default=0)} times",
        )
        training = [numbers for numbers, _ in result["training"]]
        require(
            len(training) == estimator_ranks.NUM_BATCHES,
            f"the data for training of rank {rank} end after {len(training)} batches: repeat them without end",
        )
        lost = set(np.concatenate(training).tolist()) - set(evaluation)
        require(not lost, f"in an evaluation rank {rank} leaves out {len(lost)} of its pictures: all count")
        _check_shuffled(np.concatenate(training), len(evaluation))


def _check_shuffled(order: Array, num_mine: int) -> None:
    first, second = order[:num_mine], order[num_mine : 2 * num_mine]
    in_order = int(np.sum(np.diff(first) == 1))  # neighbours in a file that are still neighbours
    require(in_order < num_mine / 2, "the data for training come in the order of the files: shuffle the records")
    require(not np.array_equal(first, second), "every epoch comes in the same order: shuffle, and then repeat")


def check_pinned(make_run_config: Callable[..., Any], num_ranks: int, ranks_per_node: int) -> None:
    """A session with this configuration sees the GPU of its local rank, and no other."""
    got = run_here(
        with_horovod,
        estimator_ranks.pinned,
        make_run_config,
        num_ranks=num_ranks,
        ranks_per_node=ranks_per_node,
        timeout_s=40,
    )
    for rank, visible in enumerate(got):
        local_rank = rank % ranks_per_node
        require(visible is not None, f"the RunConfig of rank {rank} holds no session configuration: pass session_config")
        require(visible != "", f"the sessions of rank {rank} see all GPUs of the node: set visible_device_list")
        require(
            visible == str(local_rank),
            f"rank {rank}, local rank {local_rank} of its node, takes GPU {visible}: pin by the local rank",
        )


def check_files(make_run_config: Callable[..., Any], num_ranks: int) -> None:
    """Rank 0 writes checkpoints into the folder, and no other rank writes anything there."""
    with tempfile.TemporaryDirectory() as parent:
        found = run_here(
            with_horovod,
            estimator_ranks.use_run_config,
            make_run_config,
            parent,
            num_ranks=num_ranks,
            timeout_s=40,
        )
    writers = [rank for rank, result in enumerate(found) if result["files"]]
    require(0 in writers, "rank 0 writes nothing into the folder: give the RunConfig of rank 0 the model_dir")
    require(
        writers == [0],
        f"the ranks {', '.join(map(str, writers))} write into the folder: rank 0 alone must write",
    )
    require(found[0]["checkpoint"] is not None, f"rank 0 writes no checkpoint, only {found[0]['files'][:3]}")


def try_evaluate(evaluate: Callable[..., Any], num_ranks: int = 2) -> Trial:
    """Evaluate a known network on tiny files of unequal sizes; only rank 0 has its checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        files = spy.write_samples(Path(folder), HELD_OUT_PER_FILE)
        use = estimator_ranks.use_evaluate
        return try_on_ranks(with_horovod, use, evaluate, files, folder, ANSWER, num_ranks=num_ranks)


def check_evaluated_once(trial: Trial) -> None:
    """All ranks together evaluate each picture once, with the weights of the checkpoint, in evaluation mode."""
    results = trial.of_ranks()
    seen = [np.concatenate([sight.samples for sight in result["sights"]] or [[]]) for result in results]
    times = Counter(np.concatenate(seen).astype(int).tolist())
    num_samples = sum(HELD_OUT_PER_FILE)
    missing = num_samples - len(times)
    require(missing == 0, f"{missing} of {num_samples} pictures are evaluated by no rank")
    most = max(times.values())
    everywhere = min(times.values()) == trial.num_ranks > 1
    require(not everywhere, f"each of the {trial.num_ranks} ranks evaluates all pictures: the same work several times")
    require(most == 1, f"a picture is evaluated {most} times")
    for rank, result in enumerate(results):
        for sight in result["sights"]:
            require(
                int(np.argmax(sight.bias)) == ANSWER + 1,
                f"rank {rank} evaluates with random weights, not those of the checkpoint, which only rank 0 has "
                "in its model_dir: give its path to all ranks",
            )


def check_accuracy(trial: Trial) -> None:
    """The accuracy is the share of right pictures of all ranks together."""
    num_samples = sum(HELD_OUT_PER_FILE)
    results = [result["result"] for result in trial.of_ranks()]
    require(
        results[0] is not None and "accuracy" in results[0],
        f"evaluate must return, at least on rank 0, a dictionary with an 'accuracy', not {results[0]!r}",
    )
    for rank, result in enumerate(results):
        if result is None:
            continue
        accuracy = result.get("accuracy", np.nan)
        require(
            bool(np.isclose(accuracy, 1 / num_samples, rtol=1e-4)),
            f"1 of {num_samples} pictures is right, but rank {rank} returns the accuracy {accuracy:.4g}{_hint(accuracy, trial)}",
        )


def _hint(accuracy: float, trial: Trial) -> str:
    """Return how a wrong accuracy may have come about."""
    sizes = [sum(HELD_OUT_PER_FILE[rank :: trial.num_ranks]) for rank in range(trial.num_ranks)]
    own = [1 / sizes[0], *(0.0 for _ in sizes[1:])]
    if np.isclose(accuracy, np.mean(own), rtol=1e-4):
        return ": the plain mean of unequal shards; weight each by its number of pictures"
    if any(np.isclose(accuracy, value, rtol=1e-4) for value in own):
        return ": that of one shard alone; put all shards together"
    return ""


def check_tf_config(tf_config: Callable[..., Any], num_workers: int) -> None:
    """The text for TF_CONFIG names all workers, and which of them this process is."""
    hosts = [f"node{number}:{20000 + 7 * number}" for number in range(num_workers)]
    for index in range(num_workers):
        text = tf_config(list(hosts), index)
        require(isinstance(text, str), f"tf_config must return text in the form of JSON, not {type(text).__name__}")
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        require(isinstance(found, dict), f"{text!r} is not JSON, as json.dumps makes it")
        workers = found.get("cluster", {}).get("worker")
        require(workers == hosts, f"the cluster's workers are {workers}, not {hosts}")
        task = found.get("task", {})
        require(task.get("type") == "worker", f"the task is of type {task.get('type')!r}, not 'worker'")
        require(
            task.get("index") == index and isinstance(task.get("index"), int),
            f"worker {index} is told that its index is {task.get('index')!r}",
        )
