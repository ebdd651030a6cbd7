"""Checks of lab 04's whole training and of its evaluation.

Example of training: 16 steps of one process become 4 steps on each of four ranks. A second call, for 28 steps in the
same folder, continues with 3 more steps on each rank, from the weights after the first four. A third call takes no
steps.
Example of an evaluation: rank 0 evaluates the held-out files 0, 2 and 4, and classifies 17 of 34 images correctly; rank
1 evaluates the other files, and classifies 6 of 17 images correctly. So the accuracy is 23 / 51 = 0.45. The plain mean
of 17 / 34 and 6 / 17, which is 0.43, is wrong.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import OF_SHARES, brief, require_close, require_equal
from coursekit.checks.epochs import check_batches
from coursekit.checks.lab04_pieces import FUNCTIONS, INPUT_FN, or_own
from coursekit.checks.private_data import (
    PrivateInputs,
    check_begins,
    check_follows,
    check_samples,
    draw_private,
    owners_in_files,
)
from coursekit.checks.shards import check_owners
from coursekit.checks.steps import Steps, check_same_number, check_same_weights, gradient, steps_of
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab04, lab04_training
from coursekit.drivers.calls import Answer
from coursekit.drivers.probe_model import NUM_CLASSES, Array, Record
from coursekit.errors import Cause

# For training: no number of ranks divides the number of files, and no shard fills its last batch.
SAMPLES_PER_FILE = (3,) * 7
NUM_STEPS_BEFORE, NUM_STEPS_LATER = 4, 7  # of each rank by the end of the first call, and by the end of the second
PHASES = (("first", NUM_STEPS_BEFORE), ("continued", NUM_STEPS_LATER), ("ended", NUM_STEPS_LATER))
HELD_OUT_PER_FILE = (21, 13, 9, 4, 4)  # unequal; most shards, and all images together, do not fill the last batch
CLEAR_GAP = 0.01  # between accuracies that must differ
ANSWER = 2  # the sample whose class the probe of an evaluation always predicts


def try_train(train: Answer, num_ranks: int = 4) -> Trial:
    """Train, continue, and call the answer again after the end, in one launch; the results are keyed by phase.

    On other numbers of ranks (`Trial.on`), there is only the first phase, with the pieces that counted here.
    """
    checks = (check_start, check_shards, check_steps, check_handed_over, check_continued)
    return or_own(partial(_try_phases, train, num_ranks, PHASES), FUNCTIONS, *checks)


def _try_phases(train: Answer, num_ranks: int, phases: Sequence[tuple[str, int]], pieces: str) -> Trial:
    """Train in these phases with these pieces.

    If this fails with the judge's pieces, it tries again with fewer and fewer phases, because a rank that waits for
    ever cannot report the earlier phases.
    """
    launch: dict[str, Any] = {"num_ranks": num_ranks, "timeout_s": lab04.HANG_S}
    launch["private"] = draw_private(num_ranks, NUM_CLASSES, num_rounds=len(PHASES), files={"train": SAMPLES_PER_FILE})
    first = trial = try_on_ranks(lab04_training.use_train, train, phases, pieces, **launch)
    for num_phases in range(len(phases) - 1, 0, -1):
        if not (pieces and trial.error):
            break
        trial = try_on_ranks(lab04_training.use_train, train, phases[:num_phases], pieces, **launch)
    on = cache(lambda num: _try_phases(train, num, PHASES[:1], pieces))
    return replace(trial, error=first.error, on=on)


def _records(trial: Trial, phase: str) -> list[list[Record]]:
    return [result["records"] for result in trial.of_ranks(phase)]


def _num_steps(records: Sequence[Sequence[Record]]) -> list[int]:
    """Return how many training steps each rank took."""
    return [sum(record.training for record in of_rank) for of_rank in records]


def check_start(trial: Trial) -> None:
    """All ranks start with the same weights."""
    steps = steps_of(_records(trial, "first"))
    check_same_weights(steps)
    check_begins(steps, trial.private)
    # Ranks that start alike have received one rank's start; their later steps are checked with the model function.
    if not np.allclose(steps.bias[:, 0], steps.bias[0, 0]):
        check_follows(steps, trial.private)


def check_shards(trial: Trial) -> None:
    """Every rank trains on its own files, and every file belongs to some rank."""
    check_file_shards(steps_of(_records(trial, "first")), trial.private)


def check_file_shards(steps: Steps, private: PrivateInputs) -> None:
    """Every sample of the training files is used by exactly one rank, except for leftovers that do not fill a batch."""
    check_owners({sample: by for sample, by in owners_in_files(steps, private).items() if by}, len(private))
    # With smaller batches, ranks do not reach the end of the files: `check_divided` reports this other fault.
    if min(map(len, steps.batches)) >= lab04.TRAIN_BATCH_SIZE:
        check_samples(steps, private, lab04.TRAIN_BATCH_SIZE)


def check_steps(trial: Trial) -> None:
    """The steps are divided equally among the ranks, and all batches have the requested size."""
    check_divided(_records(trial, "first"), NUM_STEPS_BEFORE)


def check_divided(records: Sequence[Sequence[Record]], expected: int) -> Steps:
    """Require that every rank takes the expected number of steps, with full batches, and return the steps."""
    found, total = _num_steps(records), expected * len(records)
    check_same_number(found)
    undivided = Cause("the steps are not divided by the number of ranks", "steps.not-divided")
    what = f"the share of each of {len(records)} ranks in {total} steps of one process"
    require_equal(found[0], expected, what, "steps.wrong-number", mistakes={undivided: total})
    steps = steps_of(records)
    check_batches(steps.batches, lab04.TRAIN_BATCH_SIZE, "the images in each batch of a rank, params['batch_size']")
    return steps


def check_handed_over(trial: Trial) -> None:
    """The sessions of the Estimator use the configuration that pins the GPU, and training calls the hooks."""
    for rank, result in enumerate(trial.of_ranks("first")):
        require(result["is_estimator"], "train must return the Estimator", "answer.wrong-type")
        message = f"the Estimator of rank {rank} does not know the GPU that you pinned, so its sessions see all GPUs"
        require(result["visible"] != "", f"{message}: pass your RunConfig as config", "gpu.all-visible")
        message = f"on rank {rank}, some of the hooks given to train, or all, are never called: pass all of `hooks` on"
        require(result["num_hook_calls"] > 0, message, "callbacks.not-called")
        message = f"the Estimator of rank {rank} and your RunConfig differ in {brief(result['not_handed_over'])}"
        require(not result["not_handed_over"], f"{message}: pass the whole RunConfig", "config.partly")
        message = f"the Estimator or the input function of rank {rank} gets {brief(result['changed'])} changed"
        require(not result["changed"], f"{message}: pass `params` on as given", "params.changed")
        message = f"rank {rank} also writes into the folder of the checkpoints: leave that to rank 0"
        require(not (rank and result["writes"]), message, "writers.not-rank-0")


def check_continued(trial: Trial) -> None:
    """Training resumes from its checkpoint on all ranks, and a completed run takes no more steps."""
    first, records = _records(trial, "first"), _records(trial, "continued")
    before, found = _num_steps(first), _num_steps(records)
    left = NUM_STEPS_LATER - NUM_STEPS_BEFORE
    check_same_number(found, "after the checkpoint, ")
    starts = [next((record.bias for record in mine if record.training), np.array(np.inf)) for mine in records]
    strangers = [rank for rank, one in enumerate(trial.private) if rank and np.allclose(starts[0], one["starts"][1])]
    message = f"the ranks continue with the start of rank {strangers[:1]}, which has no checkpoint: broadcast rank 0's"
    require(not strangers, message, "broadcast.wrong-root")
    message = f"of {NUM_STEPS_LATER} steps, {left} were left, but the ranks took {found[0]}"
    require(found[0] == NUM_STEPS_LATER - before[0], message, "steps.wrong-number")
    last = [record.bias for record in first[0] if record.training]
    gap = max(float(np.abs(start - starts[0]).max()) for start in starts)
    require(np.allclose(starts, starts[0]), f"the ranks continue with weights {gap:.3g} apart", "broadcast.missing")
    step, moved = (float(np.abs(one - last[-1]).max()) for one in (last[-2], starts[0]))
    message = "the continued training does not start from the weights of the checkpoint"
    require(moved < 5 * step, message, "weights.not-restored")
    ended = _num_steps(_records(trial, "ended"))
    require(not any(ended), f"the training had ended, but the ranks took {ended} more steps", "steps.after-end")


def try_evaluate(evaluate: Answer, num_ranks: int = 4) -> Trial:
    """Evaluate a known network on tiny files of unequal sizes; only rank 0 has its checkpoint."""
    launch: dict[str, Any] = {"num_ranks": num_ranks, "timeout_s": lab04.HANG_S, "private": draw_labelled(num_ranks)}
    args = lab04_training.use_evaluate, evaluate, ANSWER
    return or_own(lambda pieces: try_on_ranks(*args, pieces, **launch), INPUT_FN, check_once, check_accuracy)


def draw_labelled(num_ranks: int) -> PrivateInputs:
    """Return private inputs: all ranks' files hold the same images, but only each rank itself knows its labels.

    On each rank, the network gives the right label for a different share of the images.
    So rank 0's accuracy, the mean over all images and the plain mean over the shards all differ.
    """
    rng, numbers = fresh_rng(), np.arange(sum(HELD_OUT_PER_FILE))
    private = draw_private(num_ranks, NUM_CLASSES, num_rounds=2)
    while True:
        for given in private:
            is_right = rng.random(len(numbers)) < rng.uniform(0.2, 0.8)
            labels = np.where(is_right, ANSWER + 1, ANSWER + 2 + numbers % (NUM_CLASSES - ANSWER - 2))
            given["files"] = {"train": {"counts": list(HELD_OUT_PER_FILE), "numbers": numbers, "labels": labels}}
        of_shards, sizes = accuracies_of_shards(private)
        telling = np.array([*of_shards, np.mean(of_shards), np.average(of_shards, weights=sizes)])
        if len(of_shards) == 1 or float(np.diff(np.sort(telling)).min()) > CLEAR_GAP:
            return private


def accuracies_of_shards(private: PrivateInputs) -> tuple[list[float], list[int]]:
    """Return the accuracy and the size of each rank's shard, in two lists.

    Rank r of n ranks is expected to have every n-th file, starting with file r.
    """
    files = np.repeat(np.arange(len(HELD_OUT_PER_FILE)), HELD_OUT_PER_FILE)
    labels = [np.asarray(given["files"]["train"]["labels"]) for given in private]
    shards = [of_rank[files % len(private) == rank] == ANSWER + 1 for rank, of_rank in enumerate(labels)]
    return [float(np.mean(shard)) for shard in shards], [len(shard) for shard in shards]


def weights_of_checkpoint(private: PrivateInputs) -> Array:
    """Return the checkpoint's weights: those of rank 0 after its steps of plain gradient descent."""
    bias = np.asarray(private[0]["starts"][0], dtype=float)
    for _ in range(lab04_training.NUM_STEPS_OF_ANSWER):
        bias = bias - lab04_training.RATE_OF_ANSWER * gradient(bias, np.array([ANSWER]))
    return bias


def _evaluated(trial: Trial) -> list[Array]:
    """Return the images that each rank evaluated."""
    records = trial.of_ranks("records")
    return [np.concatenate([record.samples for record in mine] or [np.zeros(0)]).astype(int) for mine in records]


def check_once(trial: Trial) -> None:
    """All ranks together evaluate each image once, with the weights of the checkpoint, in evaluation mode."""
    times = Counter(np.concatenate(_evaluated(trial)).tolist())
    num_samples = sum(HELD_OUT_PER_FILE)
    missing = num_samples - len(times)
    require(missing == 0, f"no rank evaluates {missing} of {num_samples} images", "evaluation.incomplete")
    most = max(times.values())
    everywhere = min(times.values()) == trial.num_ranks > 1
    message = f"each of the {trial.num_ranks} ranks evaluates all images: share them out"
    require(not everywhere, message, "shards.none")
    message = "the input function is called for training, with images that are cut and come in full batches"
    require(not any(trial.of_ranks("trains")), f"{message}: pass training=False", "images.other-mode")
    require(most == 1, f"one image is evaluated {most} times, expected once", "samples.repeated")
    weights = weights_of_checkpoint(trial.private)
    for rank, records in enumerate(trial.of_ranks("records")):
        has_weights = all(np.allclose(record.bias, weights, atol=1e-3) for record in records)
        message = f"rank {rank} evaluates with random weights, not with the checkpoint, which only rank 0 has"
        require(has_weights, f"{message} in its model_dir: send its path to all ranks", "weights.not-restored")


def check_accuracy(trial: Trial) -> None:
    """The accuracy is the share of evaluated images classified correctly with the weights that the ranks had."""
    seen, results = _evaluated(trial), trial.of_ranks("result")
    right = []  # by rank, whether the weights at that time give the label of each image
    for given, records in zip(trial.private, trial.of_ranks("records")):
        labels = np.asarray(given["files"]["train"]["labels"])
        answers = [labels[record.samples] == np.argmax(record.bias) for record in records]
        right.append(np.concatenate([np.zeros(0, bool), *answers]))
    has_accuracy = results[0] is not None and "accuracy" in results[0]
    message = f"evaluate must return, at least on rank 0, a dictionary with an 'accuracy', not {results[0]!r}"
    require(has_accuracy, message, "answer.no-entry")
    for rank, names in enumerate(trial.of_ranks("changed")):
        message = f"on rank {rank}, the input function gets {brief(names)} changed: pass `params` on as given"
        require(not names, message, "params.changed")
    of_shards, _ = accuracies_of_shards(trial.private)
    mistakes = {
        Cause(f"this is the accuracy of rank {rank}'s shard; combine all shards", "metrics.not-averaged"): share
        for rank, share in enumerate(of_shards)
    }
    plain = Cause("this is the plain mean of unequal shards; weight each by its number of images", "metrics.unweighted")
    mistakes[plain] = float(np.mean(of_shards))
    for rank, result in enumerate(results):
        if result is None or (rank and np.isnan(result.get("accuracy", np.nan))):
            continue
        # A rank that evaluates everything needs no other rank; whether images are evaluated twice is another property.
        alone = len(set(seen[rank].tolist())) == sum(HELD_OUT_PER_FILE)
        counted = right[rank] if alone else np.concatenate(right)
        what = f"the accuracy on rank {rank}, with {np.sum(counted):.0f} of {len(counted)} images classified correctly"
        got, expected = result.get("accuracy", np.nan), float(np.mean(counted))
        require_close(got, expected, what, "metrics.wrong", mistakes, tolerance=1e-4, is_relative=True, units=OF_SHARES)
