"""Checks of the separate pieces of lab 08: joining ranks, devices, samplers, collectives."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import Array, explained, require_close, require_equal
from coursekit.checks.epochs import check_last_batch
from coursekit.checks.on_ranks import run_on_ranks
from coursekit.checks.shards import check_owners, owners
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab08 as drivers
from coursekit.drivers.calls import Answer, call
from coursekit.errors import Cause

NUM_SAMPLES, BATCH_SIZE, NUM_EPOCHS = 22, 3, 4  # three ranks cannot share them equally; last batches are not full
NUM_GPUS = 4  # pretended GPUs on each node
BACKENDS = ("gloo", "cpu:gloo,cuda:nccl")  # without GPUs and with GPUs
CPU_BACKENDS, GPU_BACKENDS = ("", "gloo", "cpu:gloo"), (["cpu:gloo", "cuda:nccl"],)  # "" is PyTorch's own choice
ALIKE = 1e-6  # numbers in 32 bits


def check_join(join: Answer, num_ranks: int, ranks_per_node: int) -> None:
    """Every rank returns its rank, the world size and its local rank, and has joined the others.

    All ranks but the last pretend to have GPUs. Example: if the first 3 ranks share a node, rank 3 has local rank 0.
    """
    own, with_gpus = fresh_rng().integers(1, 1000, num_ranks).tolist(), list(range(num_ranks - 1))
    launch = {"num_ranks": num_ranks, "ranks_per_node": ranks_per_node, "private": own}
    for rank, found in enumerate(run_on_ranks(drivers.place, join, with_gpus, wrapper=call, **launch)):
        expected = {"rank": rank, "world size": num_ranks, "local rank": rank % ranks_per_node}
        for (name, value), got in zip(expected.items(), found["place"]):
            require_equal(got, float(value), f"the {name} on rank {rank}", "facts.wrong")
        require(
            found["sum"] == sum(own),
            f"rank {rank} has not joined the others: call init_process_group",
            "ranks.not-joined",
        )
        backend, has_gpus = found["backend"], rank in with_gpus
        what = f"the backend on rank {rank}, {'with' if has_gpus else 'without'} GPUs"
        fits = sorted(backend.split(",")) in GPU_BACKENDS if has_gpus else backend in CPU_BACKENDS
        require(fits, f"{what}: expected {BACKENDS[has_gpus]!r}, got {backend!r}", "join.wrong-backend")


def check_device(pick_device: Answer, num_ranks: int, ranks_per_node: int) -> None:
    """Every rank picks the GPU of its local rank and makes it the current one; without GPUs, it picks the CPU."""
    for num_gpus in (NUM_GPUS, 0):
        launch = {"num_ranks": num_ranks, "ranks_per_node": ranks_per_node}
        found = run_on_ranks(drivers.device, pick_device, num_gpus, wrapper=drivers.joined, **launch)
        for rank, (got, is_set) in enumerate(found):
            local = rank % ranks_per_node
            where = f"with {num_gpus} GPUs on each node" if num_gpus else "without GPUs"
            expected = f"cuda:{local}" if num_gpus else "cpu"
            require_equal(got, expected, f"{where}, the device of rank {rank} (local rank {local})", "device.wrong")
            if num_gpus:
                not_set = Cause("call torch.cuda.set_device", "device.not-set")
                what = f"the GPU that rank {rank} (local rank {local}) has set"
                require_equal((is_set or [None])[0], local, what, "device.wrong-set", mistakes={not_set: None})


def try_epochs(read_epochs: Answer, num_ranks: int) -> Trial:
    """Read several epochs of a small data set on ranks: with two seeds, and again with the first seed."""
    seeds = fresh_rng().choice(1000, 2, replace=False).tolist()
    args = (read_epochs, NUM_SAMPLES, BATCH_SIZE, NUM_EPOCHS, [*seeds, seeds[0]])
    return try_on_ranks(drivers.epochs, *args, num_ranks=num_ranks, private=({},) * num_ranks, wrapper=drivers.joined)


def _epochs_of(trial: Trial) -> list[list[list[list[Array]]]]:
    """Return the samples of all batches, in nested lists: by rank, by seed, by epoch and by batch."""
    found = trial.of_ranks()
    for rank, of_rank in enumerate(found):
        for epochs in of_rank:
            require_equal(len(epochs), NUM_EPOCHS, f"the number of epochs on rank {rank}", "epochs.wrong-number")
            require(all(len(batches) for batches in epochs), f"an epoch of rank {rank} has no batches", "batches.empty")
    return found


def check_shards(trial: Trial) -> None:
    """In each epoch, every sample is used by some rank, and all ranks use the same number of samples.

    A few samples may be used by two ranks to make the numbers equal. Example: if 3 ranks share out 22 samples, each
    rank gets 8, and two samples are used twice.
    """
    for epoch in range(NUM_EPOCHS):
        batches = [of_rank[0][epoch] for of_rank in _epochs_of(trial)]
        used = [np.concatenate(of_rank) for of_rank in batches]
        found = owners(used, NUM_SAMPLES)
        num_shared = sum(len(by) > 1 for by in found.values())
        if num_shared < trial.num_ranks:  # because of padding
            found = {sample: by[:1] for sample, by in found.items()}
        check_owners(found, trial.num_ranks, advice=": every rank needs the same seed, and a sampler that shards")
        sizes = [len(samples) for samples in used]
        message = f"expected equally many samples on each rank, so that all take equally many steps, got {sizes}"
        require(np.ptp(sizes) == 0, f"{message}: let some samples come twice", "shards.uneven")
        for rank, of_rank in enumerate(batches):
            check_last_batch(of_rank, BATCH_SIZE, f"of rank {rank}")


def check_order(trial: Trial) -> None:
    """Each epoch has a new order of all samples, and these orders depend only on the seed."""
    for rank, of_seeds in enumerate(_epochs_of(trial)):
        orders = [[np.concatenate(batches).tolist() for batches in epochs] for epochs in of_seeds]
        first, same = orders[0][0], [epoch for epoch in range(1, NUM_EPOCHS) if orders[0][epoch] in orders[0][:epoch]]
        ascending = f"rank {rank} reads its samples in ascending order: shuffle them"
        repeated = f"epoch {(same or [0])[0]} of rank {rank} has the same order as an earlier one"
        causes = {
            Cause(ascending, "order.not-shuffled"): first == sorted(first),
            Cause(f"{repeated}: call set_epoch with the number of the epoch", "order.repeated"): same,
            Cause(f"rank {rank} has the same order with another seed", "order.fixed-seed"): first == orders[1][0],
            Cause(
                f"rank {rank} gets another order when it reads again with the same seed", "order.not-repeatable"
            ): orders[0] != orders[2],
            Cause(
                f"rank {rank} has the same samples in every epoch: shuffle all samples, and then share them out",
                "order.of-shards",
            ): len({frozenset(order) for order in orders[0]}) == 1 and len(set(first)) < NUM_SAMPLES,
        }
        for cause, is_so in causes.items():
            require(not is_so, *cause)


def check_allreduce(allreduce: Answer, num_ranks: int) -> None:
    """Every rank gets the mean over the ranks, even of a single number, and its own tensor stays unchanged."""
    rng, there = fresh_rng(), f"but there are {num_ranks} ranks: ask for the world size"
    own = [[rng.normal(1, 1, (3, 2)).astype(np.float32), np.array(rng.normal(1, 1))] for _ in range(num_ranks)]

    def mistakes(tensors: Sequence[Array], rank: int) -> dict[Cause, Array]:
        total = np.sum(tensors, axis=0, dtype=float)
        divided_own = "this is the rank's own tensor, divided by the number of ranks"
        return {
            Cause("this is the sum over the ranks", "allreduce.sum"): total,
            Cause("this is the rank's own tensor", "allreduce.own"): tensors[rank],
            Cause(divided_own, "allreduce.own-divided"): tensors[rank] / num_ranks,
        } | {
            Cause(f"this is the sum over the ranks, divided by {n}, {there}", "allreduce.fixed-size"): total / n
            for n in range(2, 2 * num_ranks)
            if n != num_ranks
        }

    _check_collective(allreduce, "allreduce", own, lambda tensors: np.mean(tensors, axis=0, dtype=float), mistakes)


def check_allgather(allgather: Answer, num_ranks: int) -> None:
    """Every rank gets all rows in rank order; ranks may have different numbers of rows, and rows may be numbers."""
    rng = fresh_rng()
    own = [
        [rng.normal(size=(num_rows, 2)).astype(np.float32), rng.integers(1, 1000, num_rows + 1)]
        for num_rows in rng.permutation(num_ranks) + 1
    ]
    for table, numbers in own:  # rows of zeros count, too
        table[-1] = numbers[0] = 0

    def mistakes(tensors: Sequence[Array], rank: int) -> dict[Cause, Array]:
        first = [tensors[rank], *tensors[:rank], *tensors[rank + 1 :]]
        own_first = "the rank's own rows come first, instead of rank 0's"
        return {
            Cause("the rows are not in rank order", "allgather.order"): np.concatenate(tensors[::-1]),
            Cause(own_first, "allgather.own-first"): np.concatenate(first),
        }

    unequal = "PyTorch has ended a rank: dist.all_gather needs equal numbers of rows, but here the numbers differ"
    plain = "allgather fails for one-dimensional tensors, whose rows are plain numbers: torch.cat accepts them"
    causes = {
        "SIGABRT": Cause(unequal, "allgather.unequal-rows"),
        "Sizes of tensors must match except in dimension 0. Expected size": Cause(plain, "allgather.plain-numbers"),
    }
    with explained(causes):
        _check_collective(allgather, "allgather", own, np.concatenate, mistakes)


def _check_collective(
    answer: Answer, name: str, own: Sequence[Sequence[Array]], expected: Callable[[Any], Array], mistakes: Any
) -> None:
    """Call the answer on ranks that have these tensors; each must get what `expected` returns for them."""
    results = run_on_ranks(drivers.collective, answer, num_ranks=len(own), private=own, wrapper=drivers.joined)
    for (rank, found), (number, tensors) in product(enumerate(results), enumerate(zip(*own))):
        right, what = expected(tensors), f"{name} on rank {rank}"
        got = np.asarray(found[number]["returned"], dtype=float)
        require_equal(got.shape, right.shape, f"the shape of the result of {what}", "collective.wrong-shape")
        fitting = {cause: one.ravel() for cause, one in mistakes(tensors, rank).items() if one.shape == right.shape}
        require_close(got.ravel(), right.ravel(), what, "collective.wrong", fitting, tolerance=ALIKE)
        is_kept = np.array_equal(found[number]["own"], tensors[rank])
        require(is_kept, f"{what} changes the tensor that it is given: work on a copy", "data.changed")
        is_new = not found[number]["is_shared"]
        require(is_new, f"{what} returns the tensor that it is given: return a new one", "data.not-new")
