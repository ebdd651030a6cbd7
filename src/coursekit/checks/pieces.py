"""Checks of the single pieces of lab 02, each on real ranks: facts, pinning, shards, broadcast, averages, files."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.checks.check import require
from coursekit.checks.linear import reference_limit
from coursekit.checks.on_ranks import run_here
from coursekit.drivers.calls import with_horovod

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array = np.ndarray[Any, Any]


def check_rank_facts(rank_facts: Callable[[], Any], num_ranks: int, ranks_per_node: int | None = None) -> None:
    """Every rank knows its rank, the world size and its local rank."""
    got = run_here(rank_facts, num_ranks=num_ranks, ranks_per_node=ranks_per_node)
    per_node = ranks_per_node or num_ranks
    for rank, facts in enumerate(got):
        expected = {"rank": rank, "size": num_ranks, "local_rank": rank % per_node}
        require(isinstance(facts, dict), f"rank_facts must return a dictionary, not {facts!r}")
        for name, value in expected.items():
            require(name in facts, f"the facts of rank {rank} have no entry {name!r}")
            hint = " (with two nodes, rank and local rank differ)" if per_node < num_ranks else ""
            require(facts[name] == value, f"on rank {rank}, {name!r} is {facts[name]!r}, not {value}{hint}")


def check_pin_gpu(pin_gpu: Callable[[], Any], ranks_per_node: int = 2, num_ranks: int = 4) -> None:
    """Every rank sees the GPU of its local rank only, and without a GPU the same code does nothing."""
    run_here(with_horovod, pin_gpu, num_ranks=1)
    got = run_here(_pin_with_pretended_gpus, pin_gpu, num_ranks, num_ranks=num_ranks, ranks_per_node=ranks_per_node)
    for rank, visible in enumerate(got):
        local_rank = rank % ranks_per_node
        require(visible is not None, f"rank {rank} can see all GPUs of its node: make one of them visible")
        require(len(visible) == 1, f"rank {rank} can see the GPUs {visible}: one per rank")
        require(
            visible == [local_rank],
            f"rank {rank}, local rank {local_rank} of its node, took GPU {visible[0]}: pin by the local rank",
        )


def _pin_with_pretended_gpus(pin_gpu: Callable[[], Any], num_gpus: int) -> list[int] | None:
    """Call the answer where TensorFlow reports GPUs, and return the numbers of those that it makes visible.

    The one place where the kit pretends: a machine without GPUs cannot show this fault.
    """
    from unittest import mock  # noqa: PLC0415  # on ranks only

    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    gpus = [tf.config.PhysicalDevice(f"/physical_device:GPU:{number}", "GPU") for number in range(num_gpus)]
    chosen: list[list[Any]] = []
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)

    def list_devices(device_type: str | None = None) -> list[Any]:
        return gpus if device_type in {None, "GPU"} else []

    def set_visible(devices: Any, device_type: str | None = None) -> None:
        del device_type
        # A device is a named tuple, so a tuple alone does not make a list of devices.
        chosen.append([devices] if isinstance(devices, tf.config.PhysicalDevice) else list(devices))

    pretended = {
        "list_physical_devices": list_devices,
        "set_visible_devices": set_visible,
        "set_memory_growth": lambda *_: None,
    }
    with contextlib.ExitStack() as stack:
        for name, function in pretended.items():
            for module in (tf.config, tf.config.experimental):
                stack.enter_context(mock.patch.object(module, name, function, create=True))
        with_horovod(pin_gpu)
    if chosen:
        return [gpus.index(device) for device in chosen[-1]]
    by_variable = os.environ.get("CUDA_VISIBLE_DEVICES")
    return None if by_variable is None else [int(number) for number in by_variable.split(",")]


def check_shard(shard: Callable[..., Any], num_ranks: int, num_samples: int, seed: int | None = None) -> None:
    """The ranks' shards are disjoint, complete and of (almost) equal size, and x still belongs to y."""
    x = np.random.default_rng(seed).permutation(num_samples).astype(np.float32)
    shards = run_here(with_horovod, _arrays, shard, x, num_ranks=num_ranks)
    for rank, (a, b) in enumerate(shards):
        require(np.array_equal(b, a + 1000), f"on rank {rank} x and y no longer belong together")
    owners = {int(sample): [rank for rank, (a, _) in enumerate(shards) if sample in a] for sample in x}
    sizes = [len(a) for a, _ in shards]
    check_owners(owners, num_ranks, tolerated_missing=num_ranks - 1 if len(set(sizes)) == 1 else 0)
    require(max(sizes) - min(sizes) <= 1, f"the shards have {sizes} samples: they must be as equal as possible")


def _arrays(shard: Callable[..., Any], x: Array) -> tuple[Array, Array]:
    a, b = shard(x, x + 1000)
    return np.array(a), np.array(b)


def check_owners(owners: dict[int, list[int]], num_ranks: int, tolerated_missing: int = 0) -> None:
    """Every sample belongs to exactly one rank; `owners` maps samples to the ranks that use them."""
    shared = [sample for sample, by in owners.items() if len(by) > 1]
    unused = [sample for sample, by in owners.items() if not by]
    if num_ranks > 1 and len(shared) == len(owners) and all(len(by) == num_ranks for by in owners.values()):
        require(condition=False, message=f"no shard: each of the {num_ranks} ranks uses all samples")
    require(
        not shared,
        f"the shards are not disjoint: {len(shared)} of {len(owners)} samples are used by several ranks",
    )
    require(
        len(unused) <= tolerated_missing,
        f"the shards are not complete: {len(unused)} of {len(owners)} samples are used by no rank",
    )


def check_broadcast(broadcast_start: Callable[..., Any], num_ranks: int) -> None:
    """After the broadcast every rank holds the values that one of the ranks had."""
    results = run_here(with_horovod, _broadcast, broadcast_start, num_ranks=num_ranks)
    before = [start for start, _ in results]
    after = [end for _, end in results]
    gap = max(float(np.max(np.abs(end - after[0]))) for end in after)
    require(gap == 0, f"after the broadcast the ranks still differ by up to {gap:.3g}")
    require(
        any(np.array_equal(after[0], start) for start in before),
        f"the ranks agree on {after[0].tolist()}, but no rank started there: send one rank's values to all",
    )


def _broadcast(broadcast_start: Callable[..., Any]) -> tuple[Array, Array]:
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    variables = [tf.Variable(np.random.normal(), dtype=tf.float32) for _ in range(2)]  # noqa: NPY002  # seeded per rank
    start = np.array([variable.numpy() for variable in variables])
    broadcast_start(variables)
    return start, np.array([variable.numpy() for variable in variables])


def check_average(average: Callable[..., Any], num_ranks: int) -> None:
    """Every gradient becomes its mean over the ranks, in its place and shape."""
    results = run_here(with_horovod, _average, average, num_ranks=num_ranks)
    gradients = [given for given, _ in results]
    for number, position in enumerate(zip(*gradients)):
        expected = np.mean(position, axis=0)
        # fp16 compression rounds each gradient and each partial sum to 11 bits; of each twice as much is tolerated.
        tolerance = 4 * 2**-11 * np.mean(np.abs(position), axis=0)
        for rank, (given, got) in enumerate(results):
            require(len(got) == len(given), f"rank {rank} gave {len(given)} gradients and got {len(got)} back")
            require(got[number].shape == expected.shape, f"gradient {number} changed its shape on rank {rank}")
            require(
                not np.array_equal(got[number], given[number]) or num_ranks == 1,
                f"rank {rank} still has its own gradient {number}",
            )
            require(
                bool(np.any(np.abs(got[number] - expected * num_ranks) > tolerance * num_ranks)),
                "the gradients are summed over the ranks: take their mean",
            )
            close = bool(np.all(np.abs(got[number] - expected) <= tolerance))
            require(close, f"gradient {number} on rank {rank} is not the mean over the ranks")


def _average(average: Callable[..., Any]) -> tuple[list[Array], list[Array]]:
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    given = [np.asarray(np.random.normal(1, 1, shape), np.float32) for shape in ((), (), (3, 2))]  # noqa: NPY002  # seeded per rank
    got = average([tf.constant(gradient) for gradient in given])
    return given, [np.array(gradient) for gradient in got]


def check_scale_rate(scale_rate: Callable[[float], Any], num_ranks: int, ranks_per_node: int) -> None:
    """The learning rate grows with the number of ranks, not with the rank or with the ranks of one node."""
    base = 0.125
    got = run_here(with_horovod, _scaled, scale_rate, base, num_ranks=num_ranks, ranks_per_node=ranks_per_node)
    require(len(set(got)) == 1, f"the ranks use different learning rates: {got}")
    hint = ""
    if np.isclose(got[0], base * ranks_per_node):
        hint = ", which counts the ranks of one node only"
    elif np.isclose(got[0], base):
        hint = ", which is not scaled"
    require(
        bool(np.isclose(got[0], base * num_ranks)),
        f"on {num_ranks} ranks the rate {base} becomes {got[0]:g}{hint}; linear scaling gives {base * num_ranks:g}",
    )


def _scaled(scale_rate: Callable[[float], Any], base: float) -> float:
    return float(scale_rate(base))


def check_max_num_ranks(max_num_ranks: Callable[..., Any], seed: int | None = None) -> None:
    """The largest number of ranks whose scaled rate is still below the stability limit."""
    rng = np.random.default_rng(seed)
    for spread in (0.5, 1.0, 2.0):
        x = (spread * rng.uniform(-1, 1, 300)).astype(np.float32)
        limit = reference_limit(x.astype(float))
        for wanted in (1, 2, 5):
            learning_rate = limit / (wanted + 0.5)
            got = max_num_ranks(x, learning_rate)
            require(
                int(got) == wanted,
                f"with the rate {learning_rate:.4g} and the limit {limit:.4g}, {wanted} ranks are the most, not {got}",
            )


def check_save_history(save_history: Callable[..., Any], num_ranks: int) -> None:
    """Rank 0 writes the history, and no other rank writes anything."""
    with tempfile.TemporaryDirectory() as parent:
        folders = [Path(parent) / f"rank-{rank}" for rank in range(num_ranks)]
        for folder in folders:
            folder.mkdir()
        run_here(with_horovod, _save, save_history, folders, num_ranks=num_ranks)
        writers = [rank for rank, folder in enumerate(folders) if any(folder.iterdir())]
        require(bool(writers), "no rank wrote a file")
        require(writers == [0], f"files were written by rank {', '.join(map(str, writers))}: rank 0 alone must write")
        saved = folders[0] / "history.npy"
        require(saved.exists(), f"rank 0 wrote {sorted(file.name for file in folders[0].iterdir())}, not history.npy")
        require(np.array_equal(np.load(saved), _history(0)), "history.npy does not hold the history")


def _save(save_history: Callable[..., Any], folders: Sequence[Path]) -> None:
    rank = int(os.environ["HOROVOD_RANK"])
    save_history(_history(rank), folders[rank])


def _history(rank: int) -> Array:
    return rank + np.arange(6.0).reshape(3, 2)
