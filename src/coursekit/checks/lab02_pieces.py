"""Checks of the pieces of lab 02, each on real ranks: facts, pinning, shards, broadcast, averages, files."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from coursekit.checks.check import CheckError, describe, fresh_rng, require
from coursekit.checks.compare import Array, as_array, as_dict, as_number, brief, explained, require_close, require_equal
from coursekit.checks.lab01_linear import reference_limit
from coursekit.checks.on_ranks import run_and_look, run_on_ranks
from coursekit.checks.shards import check_owners, check_writers, owners
from coursekit.drivers import lab02 as drivers
from coursekit.drivers.calls import Answer, call
from coursekit.errors import Cause, without_codes
from coursekit.ranks import RankTimeoutError
from coursekit.text import first_few

GRADIENT_SHAPES = ((), (), (3, 2), (2,))
GRADIENT_SIZES = (1, 1e6, 1, 1e-9)
GRADIENT_KINDS = ((1, np.float32), (-3, np.float64))  # factor and type, for the first call and for the second
ROUNDING_16 = 2.0**-11  # relative error of a number with 16 bits
ALIKE = 1e-5  # error of means in 32 bits
MANY = 10_007  # samples, a prime number: more than the notebook has, and no number of ranks divides it
PART = 0.25  # added to each sample's number, so that no type with fewer bits can hold the sum
MANY_RANKS = 72  # more than a laptop can start
TINY = 2.0**-20
NEAR = 1e-4  # distance from the limit, in ranks; rounding to 32 bits causes a hundredth of it


def check_rank_facts(rank_facts: Answer, num_ranks: int, ranks_per_node: int) -> None:
    """Every rank knows its rank, the world size and its local rank.

    Example: with 4 ranks, 2 on each node, rank 2 has the local rank 0.
    """
    hint = " (with two nodes, rank and local rank differ)" if ranks_per_node < num_ranks else ""
    launch: dict[str, Any] = {"wrapper": call, "num_ranks": num_ranks, "ranks_per_node": ranks_per_node}
    for rank, (returned, is_initialised) in enumerate(run_on_ranks(drivers.facts, rank_facts, **launch)):
        facts = as_dict(returned, "rank_facts")
        for name, value in {"rank": rank, "size": num_ranks, "local_rank": rank % ranks_per_node}.items():
            require(name in facts, f"on rank {rank}, rank_facts returns no entry {name!r}", "answer.no-entry")
            got = as_number(facts[name], f"on rank {rank}, {name!r}")
            require_equal(got, value, f"{name!r} on rank {rank}", "facts.wrong", hint)
        message = f"Horovod is not initialised on rank {rank} after rank_facts: call hvd.init() and keep it running"
        require(is_initialised, message, "facts.not-initialised")


def check_pin_gpu(pin_gpu: Answer, ranks_per_node: int = 2, num_ranks: int = 4) -> None:
    """Every rank sees only the GPU of its local rank, and without GPUs the same code does nothing."""
    without_gpus = Cause(
        "without GPUs pin_gpu must do nothing, but it indexes an empty list: first check whether there are any",
        "gpu.none",
    )
    with explained({"IndexError": without_gpus}):
        [variables] = run_on_ranks(drivers.pin_without_gpus, pin_gpu, num_ranks=1)
    message = f"without GPUs pin_gpu must do nothing, but it sets {first_few(variables)}: pin in TensorFlow instead"
    require(not variables, message, "gpu.variable")
    launch = {"num_ranks": num_ranks, "ranks_per_node": ranks_per_node}
    for rank, (visible, _) in enumerate(run_on_ranks(drivers.pin_with_pretended_gpus, pin_gpu, num_ranks, **launch)):
        local_rank = rank % ranks_per_node
        message = f"rank {rank} can see all GPUs of its node: make only one of them visible to TensorFlow"
        require(visible is not None, message, "gpu.all-visible")
        require(len(visible) == 1, f"rank {rank} can see the GPUs {visible}, expected one", "gpu.not-one")
        where = f"rank {rank}, local rank {local_rank} of its node"
        require(visible == [local_rank], f"{where}: expected GPU {local_rank}, got GPU {visible[0]}", "gpu.wrong")


def check_shard(shard: Answer, num_ranks: int) -> None:
    """The ranks' shards are disjoint, complete and of (almost) equal size, and x still matches y.

    This must hold for every remainder of the number of samples modulo the number of ranks, for fewer samples than
    ranks, and for more samples than the notebook's data set has.
    Example: 7 samples on 2 ranks make shards of 4 and 3. With 3 and 3, one sample is lost; 5 and 2 are uneven.
    """
    rng = fresh_rng()
    numbers = [*range(4 * num_ranks + 1, 5 * num_ranks + 1), num_ranks - 1, 1, MANY]
    data = [[(rng.permutation(number) + PART).astype(np.float32) for _ in range(2)] for number in numbers]
    found = run_on_ranks(drivers.shards, shard, data, num_ranks=num_ranks)
    for (x, y), pairs in zip(data, zip(*found)):
        _check_shards(pairs, dict(zip(x.tolist(), y.tolist())))


def _check_shards(pairs: Sequence[Any], partner: dict[float, float]) -> None:
    """Check each rank's pair of arrays, and whether the rank left the data unchanged.

    `partner` maps each x to its y; the original x and y each hold 0, 1, 2, …, with `PART` added to every number, in
    random order.
    """
    shards = []
    for rank, (*pair, is_unchanged) in enumerate(pairs):
        a, b = (as_array(part, f"the shard of rank {rank}").ravel() for part in pair)
        are_known = partner.keys() >= {*a.tolist(), *b.tolist()}
        message = f"the shard of rank {rank} holds numbers that are not in x or y: return the samples unchanged"
        require(are_known, message, "samples.changed")
        together = [partner[sample] for sample in a.tolist()] == b.tolist()
        require(together, f"on rank {rank}, x and y no longer match", "labels.mismatched")
        message = f"on rank {rank}, shard changes the x and y that it is given: copy them before you shuffle"
        require(is_unchanged, message, "data.changed")
        shards.append(a - PART)
    check_owners(owners(shards, len(partner)), len(pairs))
    sizes = [len(samples) for samples in shards]
    twice = [len(samples) - len(set(samples.tolist())) for samples in shards]
    message = f"the shards repeat samples: by rank, {brief(twice)} samples are duplicates"
    require(not any(twice), message, "samples.repeated")
    message = f"for {len(partner)} samples, expected shards of equal size, or one larger, got {brief(sizes)}"
    require(np.ptp(sizes) <= 1, message, "shards.uneven")


def check_broadcast(broadcast_start: Answer, num_ranks: int) -> None:
    """The broadcast gives all ranks the values of one rank, which no other rank could know before."""
    before = fresh_rng().normal(size=(num_ranks, 2)).astype(np.float32)
    after = run_on_ranks(drivers.broadcast, broadcast_start, num_ranks=num_ranks, private=list(before))
    for rank, end in enumerate(after):
        what = f"the shape of the variables of rank {rank} after the broadcast"
        require_equal(np.shape(end), (2,), what, "variables.wrong-shape")
    gap = float(np.max(np.abs(np.subtract(after, after[0]))))
    require(gap == 0, f"after the broadcast, the ranks still differ by up to {gap:.3g}", "broadcast.missing")
    known = any(np.array_equal(after[0], start) for start in before)
    message = f"the ranks agree on {brief(after[0])}, but no rank started there: send one rank's values to all"
    require(known, message, "start.foreign")


def check_average(average: Answer, num_ranks: int) -> None:
    """Every gradient becomes its mean over the ranks, and keeps its place, shape and precision.

    Each rank knows only its own gradients.
    This must hold for large and small gradients, for gradients that are zero on a rank, and in a second call.
    Example: from 1 on rank 0 and 3 on rank 1, both ranks get 2; 4 would be the sum, and 1 is rank 0's own gradient.
    """
    rng = fresh_rng()
    drawn = [[rng.normal(1, 1, shape) for shape in GRADIENT_SHAPES] for _ in range(num_ranks)]
    for of_rank in drawn:
        of_rank[1] = 1 + np.abs(of_rank[1])  # far from zero, so that it becomes large
    drawn[-1][0] *= 0  # a zero also counts in the mean
    private = [
        [[(by * size * one).astype(kind) for size, one in zip(GRADIENT_SIZES, of_rank)] for by, kind in GRADIENT_KINDS]
        for of_rank in drawn
    ]
    listed = Cause("hvd.allreduce: expected one tensor, got a list: call it once for each gradient", "allreduce.list")
    with explained({"'list' object has no attribute 'dtype'": listed}):
        results = run_on_ranks(drivers.average, average, num_ranks=num_ranks, private=private)
    for gradients, got in zip(zip(*private), zip(*results)):
        _check_means(gradients, got)


def _check_means(gradients: Sequence[Sequence[Array]], results: Sequence[Any]) -> None:
    """Check what each rank got in one call; `gradients` holds each rank's own gradients."""
    means = [np.mean(position, axis=0, dtype=float) for position in zip(*gradients)]
    for rank, got in enumerate(results):
        what = f"the number of gradients that average returns on rank {rank}"
        require_equal(len(got), len(means), what, "gradients.wrong-number")
        for number, value in enumerate(got):
            mean = as_array(value, f"gradient {number} on rank {rank}")
            same = [mean.shape == one.shape and np.allclose(mean, one, ALIKE, ALIKE) for one in means]
            alike = np.flatnonzero(same).tolist()
            others = ", ".join(map(str, alike))
            message = f"expected the mean of gradient {number} in place {number}, got the mean of gradient {others}"
            require(number in alike or not alike, message, "gradients.wrong-order")
            _check_mean(mean, np.array([of_rank[number] for of_rank in gradients]), number, rank)


def _check_mean(got: Array, of_ranks: Array, number: int, rank: int) -> None:
    """Check what rank `rank` got for gradient `number`, given this gradient on each rank."""
    num_ranks, expected = len(of_ranks), np.mean(of_ranks, axis=0, dtype=float)
    require(got.shape == expected.shape, f"gradient {number} has another shape on rank {rank}", "gradients.wrong-shape")
    is_own = np.array_equal(got, of_ranks[rank]) and num_ranks > 1
    require(not is_own, f"rank {rank} still has its own gradient {number}: average it", "gradients.not-averaged")
    sizes = np.mean(np.abs(of_ranks), axis=0, dtype=float)
    # In 16 bits, each gradient and each partial sum is rounded; the tolerance is twice that error, far below a mistake.
    is_mean, is_sum = (bool(np.all(np.abs(got - n * expected) <= 4 * n * ROUNDING_16 * sizes)) for n in (1, num_ranks))
    require(is_mean or not is_sum, "the gradients are summed over the ranks: take their mean", "gradients.summed")
    require(is_mean, f"gradient {number} on rank {rank} is not the mean over the ranks", "gradients.wrong")
    is_exact = bool(np.all(np.abs(got - expected) <= num_ranks**2 * np.finfo(of_ranks.dtype).eps * sizes))
    message = f"gradient {number} on rank {rank} is the mean rounded to fewer bits: send it as {of_ranks.dtype}"
    require(is_exact, message, "gradients.rounded")


def check_scale_rate(scale_rate: Answer, num_ranks: int, ranks_per_node: int) -> None:
    """The learning rate grows with the number of ranks, not with the rank or the number of ranks on a node.

    This must hold for a tiny rate, and also if `hvd.size()` returns `MANY_RANKS`.
    Example: on 4 ranks, 0.25 must become 1. An answer that returns 0.5 counts only the 2 ranks of one node; one that
    returns 4 scales the rate twice.
    """
    base = float(fresh_rng().integers(2**10, 2**11) + 0.5) / 2**13  # between 1/8 and 1/4, and no 16-bit number
    launch = {"num_ranks": num_ranks, "ranks_per_node": ranks_per_node}
    found = run_on_ranks(drivers.scaled, scale_rate, [base, TINY * base], MANY_RANKS, **launch)
    got, tiny, many = zip(*found)
    require(len(set(got)) == 1, f"the ranks use different learning rates: {brief(got)}", "rate.uneven")
    mistakes = {
        Cause("it is not scaled", "rate.not-scaled"): base,
        Cause("it counts only the ranks of one node", "rate.local-size"): base * ranks_per_node,
        Cause("it grows with the square root of the number of ranks", "rate.square-root"): base * num_ranks**0.5,
        Cause("it is scaled twice", "rate.scaled-twice"): base * num_ranks**2,
    }
    what = f"the rate {base:g} scaled to {num_ranks} ranks"
    require_close(got[0], base * num_ranks, what, "rate.wrong", mistakes, is_relative=True)
    what = f"the rate {TINY * base:g} scaled to {num_ranks} ranks"
    require_close(tiny[0], TINY * base * num_ranks, what, "rate.wrong", is_relative=True)
    if not np.isclose(many[0], got[0]):  # an answer that counts ranks with an allreduce finds only the real ones
        what = f"the rate {base:g} scaled when hvd.size() is {MANY_RANKS}"
        require_close(many[0], base * MANY_RANKS, what, "rate.limited", is_relative=True)


def check_max_num_ranks(max_num_ranks: Answer, seed: int | None = None) -> None:
    """The answer returns the largest number of ranks whose scaled rate is still below the stability limit.

    This must hold for few samples and for many, for a small rate, and close to the limit.
    Example: with the rate 0.3 and the limit 1, the answer is 3 ranks, because 0.9 is below the limit and 1.2 is not.
    """
    rng = fresh_rng(seed)
    for spread, num_samples in ((0.5, 300), (1.0, 10), (2.0, 100)):
        x = (spread * rng.uniform(-1, 1, num_samples) + rng.uniform(-1, 1)).astype(np.float32)
        limit = reference_limit(x.astype(float))
        for wanted, part in (
            (0, 0.5),
            (1, NEAR),
            (2, 1 - NEAR),
            (int(rng.integers(3, 9)), 0.5),
            (int(rng.integers(2000, 4000)), 0.5),
        ):
            learning_rate = limit / (wanted + part)
            got = as_number(max_num_ranks(x, learning_rate), "the number of ranks")
            case = f"the largest number of ranks for the rate {learning_rate:.4g} and the limit {limit:.4g}"
            require_equal(got, float(wanted), case, "ranks.wrong-number")


def check_save_history(save_history: Answer, num_ranks: int) -> None:
    """Rank 0 writes the history, even over an older one; the other ranks do nothing, and no rank waits for another."""
    histories = list(fresh_rng().normal(size=(num_ranks, 3, 2)))
    try:
        made, written = run_and_look(drivers.save, save_history, num_ranks=num_ranks, private=histories)
    except RankTimeoutError as error:
        message = f"save_history must not wait for other ranks: {without_codes(describe(error))}"
        raise CheckError(message, "writers.waiting") from None
    check_writers(written)
    message = f"files of rank 0: expected history.npy, got {brief(sorted(written[0]))}"
    require("history.npy" in written[0], message, "history.no-file")
    try:
        saved = np.load(io.BytesIO(written[0]["history.npy"] or b""), allow_pickle=False)
    except (ValueError, EOFError, MemoryError):  # the file may claim any size
        message = "history.npy does not hold an array of numbers: write it with np.save"
        raise CheckError(message, "history.no-array") from None
    numbers = as_array(saved, "history.npy")
    message = "after two calls, history.npy does not hold the second history: write it unchanged, over the older one"
    require(np.array_equal(numbers, histories[0]), message, "history.wrong")
    for rank, (folders, is_kept) in enumerate(made[1:], 1):
        message = f"rank {rank} creates a folder: save_history must do nothing on the other ranks"
        require(not folders, message, "writers.folder")
        message = f"rank {rank} changes or removes the older history.npy: save_history must do nothing there"
        require(is_kept, message, "writers.older-file")
