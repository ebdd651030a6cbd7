"""Drivers of lab 08: they call its PyTorch answers on ranks that `torch.distributed` has joined."""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import (
    Answer,
    Array,
    Late,
    require_entries,
    require_number,
    require_returned,
    require_values,
)
from coursekit.drivers.probe_model import Record

torch: Any = Late("torch")
dist: Any = Late("torch.distributed")

NUM_PRETENDED_GPUS = 4
BATCH_SIZE = 4


def joined(function: Callable[..., Any], *args: Any) -> Any:
    """Join the ranks with `torch.distributed`, then call the answer, or a driver that gets the answer."""
    dist.init_process_group("gloo")
    dist.barrier()  # a rank that ends at once would break connections that others are still making
    return function(*args)


def make_probe(start: Array) -> Any:
    """Return a module that ignores pictures; its only weight starts at these numbers, and `records` lists its calls.

    The gradient of each sample is multiplied by the sample's gain, so it may be large, small or zero.
    """

    class Probe(torch.nn.Module):  # type: ignore[misc]  # imported when it is used
        def __init__(self) -> None:
            super().__init__()
            self.bias = torch.nn.Parameter(torch.tensor(start))
            self.records: list[Record] = []

        def forward(self, x: Any) -> Any:
            numbers = np.rint(x.detach().float().numpy()[:, 0]).astype(int)
            self.records.append(Record(self.bias.detach().float().numpy().copy(), numbers, self.training))
            ones = torch.ones(len(x), 1, dtype=self.bias.dtype)
            logits = torch.nn.functional.linear(ones, self.bias[:, None])  # the bias, rounded under autocast
            if not self.training:  # rows differ by a number that a softmax ignores, unlike a maximum over all rows
                logits = logits + torch.arange(len(x))[:, None]
            if logits.requires_grad:
                gains = x[:, 1:]
                logits.register_hook(lambda one: (one * gains).to(one.dtype))
            return logits

    return Probe()


def tensors(samples: Array, labels: Array | None = None, gain: float = 1.0) -> tuple[Any, Any]:
    """Return pictures that a probe takes for these samples, shape (num_samples, 2), and their labels.

    By default, sample n has the label n + 1; `labels` replaces these labels.
    """
    numbers = torch.tensor(np.asarray(samples))
    pictures = torch.stack([numbers.float(), torch.full((len(numbers),), gain)], dim=1)
    return pictures, numbers + 1 if labels is None else torch.tensor(np.asarray(labels))


@contextlib.contextmanager
def pretended(num_gpus: int) -> Iterator[list[int]]:
    """Pretend that this node has this many GPUs; yield a list of the GPUs that have been set, the latest at the end."""
    found: list[int] = []

    def set_device(device: Any) -> None:
        device = device if isinstance(device, int) else torch.device(device).index
        if device is not None and device >= 0:
            found.append(device)

    def current() -> int:
        return found[-1] if found else 0

    names = {"is_available": lambda: num_gpus > 0, "device_count": lambda: num_gpus}
    of_cuda = {**names, "set_device": set_device, "current_device": current}
    setters = dict.fromkeys(("set_device_index", "set_device_idx"), set_device)
    getters = dict.fromkeys(("current_device_index", "current_device_idx"), current)
    kind = torch.device("cuda") if num_gpus else None
    of_any = {**names, **setters, **getters, "current_accelerator": lambda *_, **__: kind}
    with contextlib.ExitStack() as stack:
        for module, stubs in ((torch.cuda, of_cuda), (getattr(torch, "accelerator", None), of_any)):
            for name, stub in stubs.items():
                if hasattr(module, name):
                    stack.enter_context(mock.patch.object(module, name, stub))
        yield found


def place(join: Answer, with_gpus: Sequence[int]) -> dict[str, Any]:
    """Let the answer join the ranks, some with fake GPUs; all join with Gloo, whatever backend is requested.

    Return what the answer returns, the backend that it asks for, and the sum of all ranks' private numbers.
    """
    init, backends = dist.init_process_group, list[Any]()

    def joined_by(backend: Any = None, *args: Any, **settings: Any) -> None:
        backends.append(backend)
        settings.pop("device_id", None)
        init("gloo", *args, **settings)

    around = getattr(join, "__globals__", {})
    names = [name for name, value in around.items() if value is init]  # an answer may import only this function
    has_gpus = int(os.environ["RANK"]) in with_gpus
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch("torch.distributed.init_process_group", joined_by))
        stack.enter_context(mock.patch.dict(around, dict.fromkeys(names, joined_by)))
        stack.enter_context(pretended(NUM_PRETENDED_GPUS * has_gpus))
        returned = join()
    require_values(join, returned, "a triple of rank, world size and local rank", 3)
    own = torch.tensor(float(places.private()))
    if dist.is_initialized():
        dist.all_reduce(own)
    numbers = [require_number(join, one) for one in returned]
    return {"place": numbers, "sum": float(own), "backend": str(backends[-1] or "").lower() if backends else ""}


def device(pick_device: Answer, num_gpus: int) -> tuple[str, list[int]]:
    """Return the device that the answer picks on a node with this many fake GPUs, and the GPU that it sets last.

    The GPU is in a list, which is empty if the answer sets none.
    """
    with pretended(num_gpus) as found:
        picked = pick_device()
    require_returned(pick_device, picked, fits=isinstance(picked, torch.device), expected="a torch.device")
    return str(picked), found[-1:]


def epochs(
    read_epochs: Answer, num_samples: int, batch_size: int, num_epochs: int, seeds: Sequence[int]
) -> list[list[list[Array]]]:
    """Return the samples of this rank's batches for each seed and epoch."""
    return [_epochs(read_epochs, num_samples, batch_size, num_epochs, seed) for seed in seeds]


def _epochs(read_epochs: Answer, num_samples: int, batch_size: int, num_epochs: int, seed: int) -> list[list[Array]]:
    dataset = torch.utils.data.TensorDataset(*tensors(np.arange(num_samples)))
    found = []
    for batches in itertools.islice(read_epochs(dataset, batch_size, num_epochs, seed), num_epochs + 1):
        of_epoch = []
        for batch in batches:
            require_values(read_epochs, batch, "a pair for each batch of an epoch", 2)
            pair = [np.asarray(part) for part in batch]
            fits = all(part.ndim > 0 for part in pair) and (pair[0][:, 0] + 1 == pair[1]).all()
            require_returned(read_epochs, batch, fits=fits, expected="a pair of x and the y of the same samples")
            of_epoch.append(pair[1] - 1)
        found.append(of_epoch)
    return found


def collective(answer: Answer) -> list[dict[str, Any]]:
    """Call the answer with each of this rank's own tensors; return its results, and the tensors after the calls.

    `is_shared` tells whether a result shares memory with the tensor.
    """
    found = []
    for numbers in places.private():
        own = torch.tensor(np.asarray(numbers))
        returned = answer(own)
        require_returned(answer, returned, fits=isinstance(returned, torch.Tensor), expected="a tensor")
        is_shared = returned.untyped_storage().data_ptr() == own.untyped_storage().data_ptr()
        found.append({"returned": returned.detach().numpy(), "own": own.numpy(), "is_shared": is_shared})
    return found


def evaluated(evaluate: Answer, bias: Array, batch_size: int) -> dict[str, Any]:
    """Evaluate a probe twice on samples whose labels only this rank knows; return both results, and what the probe saw.

    The records are those of the first evaluation.
    """
    probe, labels = make_probe(np.asarray(bias, np.float32)), places.private()["labels"]
    dataset = torch.utils.data.TensorDataset(*tensors(np.arange(len(labels)), labels))
    first, again = (require_entries(evaluate, evaluate(probe, dataset, batch_size)) for _ in range(2))
    found, given = probe.bias.detach().numpy(), np.asarray(bias, np.float32)
    is_changed = found.dtype != given.dtype or not np.array_equal(found, given)
    records = probe.records[: len(probe.records) // 2]
    is_trainable = torch.is_grad_enabled() and probe.bias.requires_grad
    return {"result": first, "again": again, "records": records, "is_changed": is_changed, "is_trainable": is_trainable}
