"""Checks of the single pieces of lab 08: places, devices, samplers, collectives, checkpoints."""

from typing import Any

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import Array, brief, explained, require_close, require_equal
from coursekit.checks.epochs import check_last_batch
from coursekit.checks.on_ranks import run_and_look, run_here
from coursekit.checks.private_data import draw_private
from coursekit.checks.shards import check_owners, check_writers, owners
from coursekit.checks.trials import Trial, try_on_ranks
from coursekit.drivers import lab08 as drivers
from coursekit.drivers.calls import Answer, call
from coursekit.errors import Cause

NUM_SAMPLES, BATCH_SIZE, NUM_EPOCHS = 22, 3, 4  # of no number of ranks a multiple, with a last batch that is not full
NUM_CLASSES = 31
CHECKPOINT = drivers.CHECKPOINT
ALIKE = 1e-5  # numbers in 32 bits


def check_join(join: Answer, num_ranks: int, ranks_per_node: int) -> None:
    """Every rank knows its rank, the world size and its local rank, and is joined with the others.

    Example: with 3 ranks, 2 on the first node, rank 2 has the local rank 0.
    """
    own = fresh_rng().integers(1, 1000, num_ranks).tolist()
    launch = {"num_ranks": num_ranks, "ranks_per_node": ranks_per_node, "private": own}
    for rank, found in enumerate(run_here(drivers.place, join, by=call, **launch)):
        expected = {"rank": rank, "world size": num_ranks, "local rank": rank % ranks_per_node}
        for (name, value), got in zip(expected.items(), found["place"]):
            require_equal(got, float(value), f"the {name} on rank {rank}", "facts.wrong")
        require(
            found["sum"] == sum(own),
            f"rank {rank} is not joined with the others: init_process_group does that",
            "ranks.not-joined",
        )


def check_device(pick_device: Answer, num_ranks: int, ranks_per_node: int) -> None:
    """Every rank picks the GPU of its local rank, and without GPUs the CPU."""
    for has_gpus in (True, False):
        driver = drivers.device_with_gpus if has_gpus else drivers.device_without
        found = run_here(driver, pick_device, by=drivers.joined, num_ranks=num_ranks, ranks_per_node=ranks_per_node)
        for rank, got in enumerate(found):
            expected = f"cuda:{rank % ranks_per_node}" if has_gpus else "cpu"
            where = f"with {drivers.NUM_PRETENDED_GPUS} GPUs on each node" if has_gpus else "without GPUs"
            require_equal(
                got, expected, f"{where}, the device of rank {rank}, local rank {rank % ranks_per_node}", "device.wrong"
            )


def try_epochs(read_epochs: Answer, num_ranks: int) -> Trial:
    """Read some epochs of a small data set on ranks, with two seeds."""
    seeds = fresh_rng().choice(1000, 2, replace=False).tolist()
    args = (read_epochs, NUM_SAMPLES, BATCH_SIZE, NUM_EPOCHS, seeds)
    return try_on_ranks(drivers.epochs, *args, num_ranks=num_ranks, private=({},) * num_ranks, by=drivers.joined)


def _epochs_of(trial: Trial) -> list[list[list[list[Array]]]]:
    """Return the batches of samples by rank, seed and epoch."""
    found = trial.of_ranks()
    for rank, of_rank in enumerate(found):
        for epochs in of_rank:
            require_equal(len(epochs), NUM_EPOCHS, f"the number of epochs on rank {rank}", "epochs.wrong-number")
            require(all(len(batches) for batches in epochs), f"an epoch of rank {rank} has no batches", "batches.empty")
    return found


def check_shards(trial: Trial) -> None:
    """In each epoch every sample belongs to a rank; some belong to two, so that all ranks have equally many.

    Example: of 22 samples 3 ranks get 8 each, so that two come twice; or 8, 7 and 7 where nobody fills up.
    """
    for epoch in range(NUM_EPOCHS):
        batches = [of_rank[0][epoch] for of_rank in _epochs_of(trial)]
        used = [np.concatenate(of_rank) for of_rank in batches]
        found = owners(used, NUM_SAMPLES)
        num_shared = sum(len(by) > 1 for by in found.values())
        if num_shared < trial.num_ranks:  # by padding
            found = {sample: by[:1] for sample, by in found.items()}
        check_owners(found, trial.num_ranks, advice=": every rank needs the same seed, and a sampler that shards")
        sizes = [len(samples) for samples in used]
        require(np.ptp(sizes) <= 1, f"expected equally many samples on each rank, got {sizes}", "shards.uneven")
        for rank, of_rank in enumerate(batches):
            check_last_batch(of_rank, BATCH_SIZE, f"of rank {rank}")


def check_order(trial: Trial) -> None:
    """Each epoch has an order of its own, which depends on the seed."""
    for rank, of_seeds in enumerate(_epochs_of(trial)):
        orders = [[np.concatenate(batches).tolist() for batches in epochs] for epochs in of_seeds]
        first, same = orders[0][0], [epoch for epoch in range(1, NUM_EPOCHS) if orders[0][epoch] in orders[0][:epoch]]
        ascending = f"rank {rank} reads its samples in ascending order: shuffle them"
        repeated = f"epoch {(same or [0])[0]} of rank {rank} is in the same order as an earlier one"
        causes = {
            Cause(ascending, "order.not-shuffled"): first == sorted(first),
            Cause(f"{repeated}: call set_epoch with the number of the epoch", "order.repeated"): same,
            Cause(f"rank {rank} has the same order with another seed", "order.fixed-seed"): first == orders[1][0],
        }
        for cause, is_so in causes.items():
            require(not is_so, *cause)


def check_allreduce(allreduce: Answer, num_ranks: int) -> None:
    """Every rank gets the mean over the ranks, and keeps its own tensor as it was."""
    own = fresh_rng().normal(1, 1, (num_ranks, 3, 2)).astype(np.float32)
    mean = np.mean(own, axis=0, dtype=float)
    there = f"and there are {num_ranks} of them: ask for the world size"
    divided = {
        Cause(f"it is the sum over the ranks, divided by {n}, {there}", "allreduce.fixed-size"): num_ranks / n * mean
        for n in range(2, 2 * num_ranks)
        if n != num_ranks
    }
    for rank, found in enumerate(run_here(drivers.collective, allreduce, by=drivers.joined, **_launch(own))):
        divided_own = "it is the rank's own tensor, divided by the number of ranks"
        mistakes = {
            Cause("it is the sum over the ranks", "allreduce.sum"): num_ranks * mean,
            Cause("it is the rank's own tensor", "allreduce.own"): own[rank],
            Cause(divided_own, "allreduce.own-divided"): own[rank] / num_ranks,
            **divided,
        }
        _check_collective(found, mean, own[rank], f"allreduce on rank {rank}", mistakes)


def check_allgather(allgather: Answer, num_ranks: int) -> None:
    """Every rank gets the rows of all ranks in their order; each rank may have another number of them."""
    rng = fresh_rng()
    own = [rng.normal(size=(num_rows, 2)).astype(np.float32) for num_rows in rng.permutation(num_ranks) + 1]
    rows = np.concatenate(own)
    unequal = "PyTorch has ended a rank: dist.all_gather wants equal numbers of rows, and here each rank has its own"
    with explained({"SIGABRT": Cause(unequal, "allgather.unequal-rows")}):
        results = run_here(drivers.collective, allgather, by=drivers.joined, **_launch(own))
    for rank, found in enumerate(results):
        first = [own[rank], *own[:rank], *own[rank + 1 :]]
        mistakes = {
            Cause("the order is not that of the ranks", "allgather.order"): np.concatenate(own[::-1]),
            Cause("the rank's own rows come first, and not those of rank 0", "allgather.own-first"): np.concatenate(
                first
            ),
        }
        _check_collective(found, rows, own[rank], f"allgather on rank {rank}", mistakes)


def _launch(private: Any) -> dict[str, Any]:
    return {"num_ranks": len(private), "private": list(private)}


def _check_collective(found: Any, expected: Array, own: Array, what: str, mistakes: dict[Cause, Array]) -> None:
    got = np.asarray(found["returned"], dtype=float)
    require_equal(got.shape, expected.shape, f"the shape of what {what} returns", "collective.wrong-shape")
    fitting = {words: one for words, one in mistakes.items() if one.shape == expected.shape}
    require_close(
        got.ravel(),
        expected.ravel(),
        what,
        "collective.wrong",
        {words: one.ravel() for words, one in fitting.items()},
        tolerance=ALIKE,
    )
    require(
        np.array_equal(found["own"], own),
        f"{what} changes the tensor that it gets: work on a copy",
        "data.changed",
    )


def check_save(save: Answer, num_ranks: int) -> None:
    """Rank 0 alone writes a file, whose model can be read without DDP, with the optimiser and the epochs."""
    num_epochs = int(fresh_rng().integers(2, 50))
    private = draw_private(num_ranks, NUM_CLASSES, num_samples=drivers.BATCH_SIZE)
    args = (drivers.saved, save, num_epochs)
    alone = "the file is to hold tensors, numbers and text alone: save the state_dict() of model and optimiser"
    with explained(dict.fromkeys(("<locals>", "Weights only load failed"), Cause(alone, "checkpoint.whole-objects"))):
        results, written = run_and_look(*args, num_ranks=num_ranks, by=drivers.joined, private=private)
    check_writers(written)
    require(
        CHECKPOINT in written[0],
        f"files of rank 0: expected {CHECKPOINT}, got {brief(sorted(written[0]))}",
        "checkpoint.missing",
    )
    found = results[0]["found"]
    names = sorted(found["names"])
    no_buffers = "buffers, such as the running mean of a batch normalisation, are part of state_dict(), too"
    mistakes = {Cause(no_buffers, "checkpoint.no-buffers"): ["bias"]}
    if "module.bias" in names:
        wrapped = "these are names of the wrapped model, take the state of wrapped.module"
        mistakes = {Cause(wrapped, "checkpoint.of-wrapped"): names}
    require_equal(
        names,
        ["bias", drivers.BUFFER],
        "the names in the model's state in the file",
        "checkpoint.wrong-names",
        mistakes=mistakes,
    )
    for name in names:
        require(name in found["weights"], f"{name!r} in the file is not a tensor", "checkpoint.no-tensor")
        require_close(found["weights"][name], results[0][name], f"{name!r} in the file", "checkpoint.wrong-weights")
    require_equal(found["num_momenta"], 1, "the number of momenta in the file", "checkpoint.no-momenta")
    require_equal(found["num_epochs"], num_epochs, '"num_epochs" in the file', "checkpoint.wrong-epochs")


def check_resume(resume: Answer, num_ranks: int) -> None:
    """Every rank gets weights, momenta and the number of epochs of a checkpoint that was written from a GPU."""
    num_epochs = int(fresh_rng().integers(2, 50))
    private = draw_private(num_ranks, NUM_CLASSES, num_rounds=3, num_samples=drivers.BATCH_SIZE)
    launch = {"num_ranks": num_ranks, "private": private}
    results = run_here(drivers.resumed, resume, num_epochs, by=drivers.joined, **launch)
    for rank, found in enumerate(results):
        where = f"after resume on rank {rank}"
        for name, words in (("bias", "weights"), (drivers.BUFFER, "buffers")):
            gap = np.abs(np.subtract(found[name], results[0]["written"][name])).max()
            hint = ": load_state_dict takes them, too" if name == drivers.BUFFER else ""
            message = f"{where}, the {words} are not those of the checkpoint"
            require(gap < ALIKE or not rank, f"{message}: every rank has to load them", "resume.rank-0-alone")
            require(gap < ALIKE, f"{message}{hint}", "resume.wrong-state")
        momentum = np.asarray(found["momentum"])
        expected = np.asarray(results[0]["written"]["momentum"])
        is_same = momentum.shape == expected.shape and np.allclose(momentum, expected, atol=ALIKE)
        require(
            is_same,
            f"{where}, the momenta are not those of the checkpoint: load the optimiser's state, too",
            "momenta.lost",
        )
        require_equal(
            found["num_epochs"][0],
            0.0,
            f"without a checkpoint, what resume returns on rank {rank}",
            "resume.from-nothing",
        )
        require_equal(
            found["num_epochs"][1], float(num_epochs), f"what resume returns on rank {rank}", "resume.wrong-epochs"
        )
