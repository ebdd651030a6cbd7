"""Checks of lab 04's data: the split of the files, and the input function.

Example of a split: if the last three of seven files are held out, the two parts are the files 0-3 and 4-6. The parts
0-3 and 5-6 are wrong, because file 4 is missing.
Example of an input: worker 0 of two workers reads the files 0, 2, 4 and 6, which hold the samples 0-8, 16-25, 34-41 and
51-58. In an evaluation, it gets each of these samples once. In training, the samples 0-8 do not come in this order;
every sample comes once before any comes twice, and every epoch has a new order.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.compare import as_list, as_lists, brief
from coursekit.checks.epochs import (
    ASSIGN,
    check_batches,
    check_end,
    check_endless,
    check_new_batches,
    check_new_order,
    check_pairs,
)
from coursekit.checks.on_ranks import call_answer
from coursekit.checks.private_data import batches_in_files, draw_private
from coursekit.checks.shards import check_file_shares, check_owners, owners, readers_of
from coursekit.checks.trials import Trial, order_in, samples_read, try_on_ranks
from coursekit.drivers import lab04, lab04_data
from coursekit.drivers.calls import Answer
from coursekit.drivers.probe_model import NUM_CLASSES
from coursekit.text import counted

# No number of workers divides the number of files; on three workers, no shard fills whole batches.
SAMPLES_PER_FILE = (9, 7, 10, 8, 8, 9, 8)
LEAST_LEAD = 4  # after a full shuffle, some record comes this many places early; with a buffer of two, only one place
MODES = ("evaluation", "training")
# For each way of reading: whether it is for training, and params["seed"].
WAYS = {"evaluation": (False, 3), **dict.fromkeys(("training", "again", "twin"), (True, 3)), "other seed": (True, 4)}
BUFFER = 1000  # records, as the exercise requires


def check_split_files(split_files: Answer, cases: Sequence[tuple[int, int]]) -> None:
    """Every file is in exactly one of the two parts, and the last files are held out.

    `cases` lists pairs of the number of files and the number of files to hold out.
    """
    for num_files, num_held_out in cases:
        files = [f"train-{number:05d}-of-{num_files:05d}" for number in reversed(range(num_files))]
        reply, after = call_answer(lab04_data.split, split_files, list(files), num_held_out)
        parts = as_list(reply, "the result of split_files")
        message = f"split_files: expected two lists of files, got {brief(reply)}"
        require(len(parts) == 2, message, "answer.wrong-type")  # noqa: PLR2004
        training, held_out = (as_list(part, "each part of the files") for part in parts)
        both = sorted(set(training) & set(held_out))
        neither = sorted(set(files) - set(training) - set(held_out))
        where = f"with {num_files} files, {num_held_out} of them held out,"
        message = f"{where} neither part has {counted(len(neither), 'file')}, such as {neither[:1]}"
        require(not neither, message, "split.incomplete")
        require(not both, f"{where} both parts have {counted(len(both), 'file')}, such as {both[:1]}", "split.overlap")
        sizes, expected = (len(training), len(held_out)), (num_files - num_held_out, num_held_out)
        require(sizes == expected, f"{where} expected parts of {expected} files, got {sizes}", "split.wrong-size")
        is_last = set(held_out) == set(files[num_files - num_held_out :])
        require(is_last, f"{where} these must be the last of the list, not {brief(held_out)}", "split.not-last")
        message = f"split_files changes its list, which has {len(after)} files afterwards: make new lists"
        require(list(after) == files, message, "data.changed")
        again = call_answer(lab04_data.split, split_files, list(files), num_held_out)[0]
        same = [list(part) for part in again] == [training, held_out]
        require(same, "two calls split differently: all ranks need the same split", "split.changing")


def try_input_fn(input_fn: Answer, num_workers: int = 3) -> Trial:
    """Read tiny files with the answer's pipeline, on one real rank that plays each worker in turn.

    So an answer that asks Horovod instead of using its arguments treats all workers as the same worker.
    The results are in the order of the workers.
    """
    given = draw_private(1, NUM_CLASSES, files={"train": SAMPLES_PER_FILE})
    trial = try_on_ranks(lab04_data.read, input_fn, num_workers, WAYS, num_ranks=1, private=given)
    if trial.error:
        return trial
    [found] = as_lists(trial.results, num_workers, "what the workers read")
    read = [{way: batches_in_files(one[way][0], given[0]) for way in one} for one in found]
    mirrored = [{way: np.concatenate([[], *one[way][1]]) < 0 for way in MODES} for one in found]
    how = [{way: one[way][2] for way in one} for one in found]
    results = [{**batches, "mirrored": signs, "how": calls} for batches, signs, calls in zip(read, mirrored, how)]
    return replace(trial, num_ranks=num_workers, results=results)


def check_shards(trial: Trial) -> None:
    """Every file is read by one worker, in training and in evaluation."""
    asked = sorted({name for result in trial.of_ranks() for how in result["how"].values() for name in how["asks"]})
    message = f"input_fn asks Horovod for {', '.join(asked)}: shard by the arguments `worker` and `num_workers`"
    require(not asked, message, "shards.horovod")
    num_samples, file_of = sum(SAMPLES_PER_FILE), np.repeat(np.arange(len(SAMPLES_PER_FILE)), SAMPLES_PER_FILE)
    for way in ("training", "evaluation"):
        used = owners(samples_read(trial, way), num_samples)
        readers = readers_of(used, SAMPLES_PER_FILE)
        # Only whole files count: whether all of their images arrive is another property (check_modes).
        whole = {sample: by or readers[file_of[sample]][:1] for sample, by in used.items()}
        check_owners(whole, trial.num_ranks, advice=": shard by the arguments `worker` and `num_workers`")
        check_file_shares(readers, SAMPLES_PER_FILE, trial.num_ranks)


def check_modes(trial: Trial) -> None:
    """Training data come in full batches, without end, reshuffled in every epoch; evaluation data come only once."""
    results = trial.of_ranks()
    for worker, result in enumerate(results):
        for way in MODES:
            for numbers, labels in result[way]:
                check_pairs(labels, numbers + 1, f"on worker {worker} ({way})")
        check_end(result["evaluation"], lab04_data.NUM_BATCHES, f"for evaluation on worker {worker}")
        most = max(Counter(order_in(result["evaluation"]).tolist()).values(), default=0)
        message = f"in an evaluation, worker {worker} sees one image {most} times, expected once"
        require(most <= 1, message, "samples.repeated")
        _check_training(worker, result)
    order, again, other = (order_in(results[0][way]) for way in ("training", "again", "other seed"))
    message = "two runs see different orders: pass the seed in `params` to the shuffle"
    require(np.array_equal(order, again), message, "order.not-seeded")
    message = 'another params["seed"] gives the same order: shuffle with that seed, and with no other'
    require(not np.array_equal(order, other), message, "order.fixed-seed")
    lead = 0
    for result in results:
        read, seen = (order_in(result[way]).tolist() for way in ("evaluation", "training"))
        first = seen[: len(set(seen))]
        lead = max([lead, *(read.index(one) - place for place, one in enumerate(first) if one in read)])
    message = f"no record comes more than {lead} places early: shuffle with a buffer of 1000"
    require(lead >= LEAST_LEAD, message, "order.small-buffer")
    for worker, result in enumerate(results):
        largest = max((size for size in result["how"]["training"]["buffers"] if size), default=BUFFER)
        message = f"worker {worker} shuffles with a buffer of {largest} records, expected {BUFFER}"
        is_large = largest in {BUFFER, len(set(order_in(result["evaluation"]).tolist()))} or largest > BUFFER
        require(is_large, message, "order.small-buffer")
    can_be_twins = all(_has_whole_files(result) for result in results)
    twins = [order_in(result["twin"]) for result in results if result["twin"] and can_be_twins]
    message = "workers with the same records see them in different orders: use the seed in `params` on all workers"
    require(all(np.array_equal(twins[0], twin) for twin in twins[1:]), message, "order.seed-of-worker")
    used, evaluated = (set(np.concatenate(samples_read(trial, way)).tolist()) for way in ("training", "evaluation"))
    lost = used - evaluated
    message = f"an evaluation by all workers leaves out {len(lost)} of {len(used)} images: keep all of them"
    require(not lost, message, "evaluation.incomplete")
    cut = {way: np.concatenate([result["mirrored"][way] for result in results]) for way in MODES}
    is_cut = "cut and mirrored at random, as in the other mode: pass `training` on"
    require(not cut["evaluation"].any(), f"the images for evaluation are {is_cut}", "images.other-mode")
    is_random = cut["training"].any() and not cut["training"].all()
    require(is_random, f"the images for training are not {is_cut}", "images.other-mode")


def _has_whole_files(result: dict[str, Any]) -> bool:
    mine, ends = set(order_in(result["evaluation"]).tolist()), np.cumsum((0, *SAMPLES_PER_FILE))
    files = [set(range(*file)) for file in zip(ends, ends[1:])]
    return all(file <= mine or not file & mine for file in files)


def _check_training(worker: int, result: dict[str, Any]) -> None:
    check_endless(result["training"], lab04_data.NUM_BATCHES, f"for training on worker {worker}")
    message = f"the data for training on worker {worker} end at some point: repeat them endlessly"
    require(not result["how"]["training"]["ends"], message, "data.not-repeated")
    batches = [numbers for numbers, _ in result["training"]]
    check_batches(batches, lab04.BATCH_SIZE, "the number of images in each batch for training")
    order = order_in(result["training"])
    first = order[: len(set(order.tolist()))]
    in_order = int(np.sum(np.diff(order) == 1))  # neighbours in a file that are still neighbours
    message = f"the data for training come in the order of the files: shuffle the records, {ASSIGN}"
    require(in_order < len(order) / 2, message, "order.not-shuffled")
    # Epochs can be recognised only on a worker that has whole files; the shards are another property.
    is_epoch = len(set(first.tolist())) == len(first) or not _has_whole_files(result)
    num_full = max(1, len(set(order.tolist())) // lab04.BATCH_SIZE)
    passes = [np.concatenate(batches[start : start + num_full]) for start in range(0, len(batches), num_full)]
    is_cut = not is_epoch and all(len(set(one.tolist())) == len(one) for one in passes)
    message = "every epoch drops its last records, which fill no batch: repeat the records first, then batch them"
    require(not is_cut, message, "epochs.cut")
    require(is_epoch, "some images come twice before others come once: shuffle first, then repeat", "epochs.mixed")
    check_new_order(order)
    check_new_batches(batches, len(set(order.tolist())), lab04.BATCH_SIZE, f"on worker {worker}")
