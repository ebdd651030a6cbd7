"""Drivers for lab 02; each of them runs on a rank.

The drivers for the lab's pieces run after Horovod is initialised (`calls.with_horovod`). The trial of a whole training
function trains several times, each time on this rank's private data.
"""

import contextlib
import inspect
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import Answer, Array, eager_fit, hvd, require_number, require_numbers, require_values, tf

VISIBLE = "CUDA_VISIBLE_DEVICES"


def facts(rank_facts: Answer) -> tuple[Any, bool]:
    """Return what the answer says about this rank, and whether Horovod is initialised afterwards."""
    return rank_facts(), bool(hvd.is_initialized())


def pin_without_gpus(pin_gpu: Answer) -> list[str]:
    """Call the answer without GPUs; return the environment variables that it changes."""
    before = dict(os.environ)
    pin_gpu()
    return sorted(name for name in {*before, *os.environ} if os.environ.get(name) != before.get(name))


def pin_with_pretended_gpus(pin_gpu: Answer, num_gpus: int) -> tuple[list[int] | None, list[int]]:
    """Call the answer while TensorFlow reports GPUs; return which it makes visible, and on which memory may grow.

    The GPUs are fake, because a machine without GPUs cannot show mistakes in pinning. The first value is None if the
    answer leaves all GPUs visible.
    """
    gpus = [tf.config.PhysicalDevice(f"/physical_device:GPU:{number}", "GPU") for number in range(num_gpus)]
    chosen: list[list[Any]] = []
    growing: list[int] = []
    by_variable: list[str | None] = []
    os.environ.pop(VISIBLE, None)

    def list_devices(device_type: str | None = None) -> list[Any]:
        by_variable.append(os.environ.get(VISIBLE))  # TensorFlow asks CUDA for devices; CUDA reads the variable once
        return gpus if device_type in {None, "GPU"} else []

    def visible_devices(device_type: str | None = None) -> list[Any]:
        return chosen[-1] if chosen and list_devices(device_type) else list_devices(device_type)

    def start_devices(_: str | None = None) -> list[Any]:
        raise RuntimeError("list_logical_devices starts the GPUs; then none can be pinned: use list_physical_devices")

    def set_visible(devices: Any, device_type: str | None = None) -> None:
        del device_type
        # A device is itself a named tuple, so not every tuple is a list of devices.
        chosen.append([devices] if isinstance(devices, tf.config.PhysicalDevice) else list(devices))

    def set_growth(device: Any, enable: bool) -> None:
        growing.extend(number for number, gpu in enumerate(gpus) if enable and gpu == device)

    pretended: dict[str, Any] = {
        "list_physical_devices": list_devices,
        "get_visible_devices": visible_devices,
        "list_logical_devices": start_devices,
        "set_visible_devices": set_visible,
        "set_memory_growth": set_growth,
    }
    with contextlib.ExitStack() as stack:
        for module in (tf.config, tf.config.experimental):
            stack.enter_context(mock.patch.multiple(module, create=True, **pretended))
        pin_gpu()
    grown = list(range(num_gpus)) if os.environ.get("TF_FORCE_GPU_ALLOW_GROWTH") == "true" else growing
    if chosen:
        return [gpus.index(device) for device in chosen[-1]], grown
    first = [*by_variable, os.environ.get(VISIBLE)][0]
    return None if first is None else [int(one) for one in first.split(",") if one.strip()], grown


@contextlib.contextmanager
def watched_pinning(answer: Answer) -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether the answer has asked for GPUs, or pinned one in another way."""
    before = os.environ.get(VISIBLE)
    names = getattr(inspect.unwrap(answer), "__globals__", {})
    with contextlib.ExitStack() as stack:
        # Without GPUs, pinning means asking for them and finding none; these functions return what they always return.
        functions = [(tf.config, "list_physical_devices"), (tf.config, "get_visible_devices")]
        functions += [(tf.config.experimental, name) for _, name in functions]
        watched = [stack.enter_context(mock.patch.object(*one, wraps=getattr(*one))) for one in functions]
        own = mock.Mock(wraps=names.get("pin_gpu"))
        stack.enter_context(mock.patch.dict(names, {"pin_gpu": own} if "pin_gpu" in names else {}))
        yield lambda: any(one.called for one in (*watched, own)) or os.environ.get(VISIBLE) != before


def shards(answer: Answer, data: Sequence[Sequence[Array]]) -> list[tuple[Array, Array, bool]]:
    """Return this rank's share of both arrays for each pair, and whether the pair is unchanged."""
    found = []
    for x, y in data:
        given = np.array(x), np.array(y)
        shares = answer(*given)
        require_values(answer, shares, "a pair of arrays", 2)
        is_unchanged = bool(np.array_equal(given, (x, y)))
        found.append((np.array(shares[0]), np.array(shares[1]), is_unchanged))
    return found


def broadcast(broadcast_start: Answer) -> list[float]:
    """Start from this rank's private values; return the values after the broadcast."""
    # Moving averages, which are not trainable, are broadcast, too.
    variables = [
        tf.Variable(value, trainable=not number, dtype=tf.float32) for number, value in enumerate(places.private())
    ]
    broadcast_start(variables)
    return [float(variable.numpy()) for variable in variables]


def average(answer: Answer) -> list[list[Array]]:
    """Pass this rank's private gradients to the answer, call by call; return its results."""
    found = []
    for gradients in places.private():
        averages = answer([tf.constant(gradient) for gradient in gradients])
        require_values(answer, averages, "a list of gradients")
        found.append([np.array(gradient) for gradient in averages])
    return found


def scaled(scale_rate: Answer, rates: Sequence[float], num_pretended: int) -> list[float]:
    """Return the scaled learning rates, and the first one again while Horovod reports this many ranks.

    The answer may return tensors. A laptop cannot start that many ranks, so their number is faked.
    """
    found = [require_number(scale_rate, scale_rate(rate)) for rate in rates]
    library = hvd.size.__self__.MPI_LIB_CTYPES
    with mock.patch.object(library, "horovod_size", return_value=num_pretended):
        return [*found, require_number(scale_rate, scale_rate(rates[0]))]


def save(save_history: Answer) -> tuple[list[str], bool]:
    """Let the answer save two histories in this rank's own folder, the second of them private; ranks take turns.

    On all ranks but rank 0, the answer then gets a folder that does not exist, and one that contains an older file.
    Return the folders left behind, and whether that file is unchanged.
    """
    here, missing, older = places.here(), "missing", b"of an earlier training"
    is_kept = True
    for turn in range(hvd.size()):
        if turn == hvd.rank():
            save_history(np.ones((99, 2)), here.own)
            save_history(np.array(here.private), here.own)
            with contextlib.suppress(OSError):  # by its path, a file there differs from one in the rank's own folder
                if turn:
                    save_history(np.array(here.private), here.own / missing)
            with tempfile.TemporaryDirectory() as folder, contextlib.suppress(OSError):
                file = Path(folder, "history.npy")
                file.write_bytes(older)
                if turn:
                    save_history(np.array(here.private), Path(folder))
                is_kept = file.exists() and file.read_bytes() == older
        hvd.allgather(tf.zeros([1]))  # a collective that no answer uses here, so that a deadlock shows
    return [path.name for path in here.own.iterdir() if path.is_dir()], is_kept


@eager_fit()
def training_runs(
    train: Answer,
    num_epochs: Mapping[str, int],
    batch_sizes: Mapping[str, int],
    rates: Mapping[str, float],
    num_starts: int,
) -> dict[str, Array]:
    """Train once for each entry of `num_epochs`, with its batch size and rate; return the trajectories by run.

    The entry "starts" has the first rows of further runs of one step each, shape (num_starts, 2).

    This rank's private value has ``starts`` and, for each run, the arrays x and y, both of shape (num_samples,).
    In the run named ``apart``, the variables start at this rank's ``starts``, which differ from those of other ranks.
    """
    private = places.private()

    def history(name: str, num_epochs: int, batch_size: int) -> Array:
        x, y = (np.array(part) for part in private[name])
        returned = train(x, y, num_epochs, batch_size, rates[name])
        return require_numbers(train, returned, "an array of slope and offset before each step and after the last")

    found = {}
    for name in num_epochs:
        with variables_that_start_at(private["starts"]) if name == "apart" else contextlib.nullcontext():
            found[name] = history(name, num_epochs[name], batch_sizes[name])
    starts = [history("long", 1, len(private["long"][0]))[:1].ravel() for _ in range(num_starts)]
    return {**found, "starts": np.array(starts)}


@contextlib.contextmanager
def variables_that_start_at(values: Array) -> Iterator[None]:
    """Within the context, make new trainable variables start at these numbers, in order, whatever the answer says."""
    num_used = 0

    def create_at(create: Callable[..., Any], **kwargs: Any) -> Any:
        nonlocal num_used
        variable = create(**kwargs)
        has_values = variable.shape.is_fully_defined() and tf.executing_eagerly()
        if has_values and variable.trainable and variable.dtype.is_floating:
            own = np.resize(np.roll(values, -num_used), variable.shape)
            variable.assign(tf.cast(own, variable.dtype))
            num_used += own.size
        return variable

    with tf.variable_creator_scope(create_at):
        yield
