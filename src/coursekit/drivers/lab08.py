"""Drivers of lab 08: its answers with PyTorch on ranks that `torch.distributed` has joined."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import (
    Answer,
    Array,
    Late,
    WrongReturnError,
    require_entries,
    require_number,
    require_returned,
    require_values,
)
from coursekit.drivers.probe_model import MOMENTUM, Record

torch: Any = Late("torch")
dist: Any = Late("torch.distributed")

NUM_PRETENDED_GPUS = 4
CHECKPOINT = "checkpoint.pt"
BATCH_SIZE = 4
BUFFER = "running_mean"  # of the probes whose state is written


def joined(function: Callable[..., Any], *args: Any) -> Any:
    """Call the answer, or a driver with it, on a rank that `torch.distributed` has joined already."""
    dist.init_process_group("gloo")
    dist.barrier()  # a rank that ends at once would break the connections which others are still making
    return function(*args)


def make_probe(start: Array) -> Any:
    """Return a module that looks at no picture: its one weight starts here, and `records` has what each call saw."""

    class Probe(torch.nn.Module):  # type: ignore[misc]  # imported when it is used
        def __init__(self) -> None:
            super().__init__()
            self.bias = torch.nn.Parameter(torch.tensor(start))
            self.records: list[Record] = []

        def forward(self, x: Any) -> Any:
            numbers = np.rint(x.detach().numpy()[:, 0]).astype(int)
            self.records.append(Record(self.bias.detach().numpy().copy(), numbers, self.training))
            return self.bias.expand(len(x), -1)

    return Probe()


def tensors(samples: Array, labels: Array | None = None) -> tuple[Any, Any]:
    """Return pictures that a probe takes for these samples, shape (num_samples, 2), and labels, theirs by default."""
    numbers = torch.tensor(np.asarray(samples))
    pictures = torch.stack([numbers.float(), torch.zeros(len(numbers))], dim=1)
    return pictures, numbers + 1 if labels is None else torch.tensor(np.asarray(labels))


def place(join: Answer) -> dict[str, Any]:
    """Let the answer join the ranks; return what it returns, and the sum of all ranks' own numbers."""
    returned = join()
    require_values(join, returned, "rank, world size and local rank", 3)
    own = torch.tensor(float(places.private()))
    if dist.is_initialized():
        dist.all_reduce(own)
    return {"place": [require_number(join, one) for one in returned], "sum": float(own)}


def device_without(pick_device: Answer) -> str:
    """Return the device that the answer picks on this machine's CPUs."""
    with mock.patch.object(torch.cuda, "is_available", return_value=False):
        picked = pick_device()
    require_returned(pick_device, picked, fits=isinstance(picked, (str, torch.device)), expected="a torch.device")
    return str(torch.device(picked))


def device_with_gpus(pick_device: Answer) -> str:
    """Return the device that the answer picks where some GPUs are pretended to be there."""
    pretended: dict[str, Any] = {"is_available": True, "device_count": NUM_PRETENDED_GPUS, "set_device": None}
    with contextlib.ExitStack() as stack:
        stubs = {
            name: stack.enter_context(mock.patch.object(torch.cuda, name, return_value=value))
            for name, value in pretended.items()
        }
        picked = pick_device()
    require_returned(pick_device, picked, fits=isinstance(picked, (str, torch.device)), expected="a torch.device")
    return str(torch.device(picked)) + ("" if stubs["set_device"].called else ", not set")


def epochs(
    read_epochs: Answer, num_samples: int, batch_size: int, num_epochs: int, seeds: Sequence[int]
) -> list[list[list[Array]]]:
    """Return for each seed and epoch the samples of this rank's batches."""
    return [_epochs(read_epochs, num_samples, batch_size, num_epochs, seed) for seed in seeds]


def _epochs(read_epochs: Answer, num_samples: int, batch_size: int, num_epochs: int, seed: int) -> list[list[Array]]:
    dataset = torch.utils.data.TensorDataset(*tensors(np.arange(num_samples)))
    found = []
    for batches in read_epochs(dataset, batch_size, num_epochs, seed):
        of_epoch = []
        for batch in batches:
            require_values(read_epochs, batch, "for each epoch batches of pairs", 2)
            pair = [np.asarray(part) for part in batch]
            fits = all(part.ndim > 0 for part in pair) and (pair[0][:, 0] + 1 == pair[1]).all()
            require_returned(read_epochs, batch, fits=fits, expected="x with the y of the same samples")
            of_epoch.append(pair[1] - 1)
        found.append(of_epoch)
    return found


def own_epochs(num_epochs: int) -> Iterator[list[tuple[Any, Any]]]:
    """Give this rank's private samples as batches, in so many epochs."""
    for samples in np.split(np.asarray(places.private()["samples"]), num_epochs):
        yield [tensors(batch) for batch in np.split(samples, len(samples) // BATCH_SIZE)]


def trained(train: Answer, num_epochs: int, rate: float) -> dict[str, Any]:
    """Train a probe from this rank's own start on its own samples; return what it saw, and the optimiser's rate."""
    probe = make_probe(places.private()["starts"][0])
    returned = train(probe, own_epochs(num_epochs), rate)
    require_values(train, returned, "the wrapped model and its optimiser", 2)
    optimizer = returned[1]
    fits = isinstance(optimizer, torch.optim.Optimizer)
    require_returned(train, optimizer, fits=fits, expected="an optimiser as the second of the two values")
    return {"records": probe.records, "rate": require_number(train, optimizer.param_groups[0]["lr"])}


def wrapped_probe() -> Any:
    """Return a probe that starts at this rank's own weights, wrapped: all ranks have those of rank 0 then."""
    return torch.nn.parallel.DistributedDataParallel(make_probe(places.private()["starts"][0]))


def accumulated(accumulate: Answer, num_epochs: int) -> dict[str, Any]:
    """Return the gradient that is left by all of this rank's batches, and how many times gradients were exchanged."""
    hooks = Late("torch.distributed.algorithms.ddp_comm_hooks.default_hooks")
    exchanges = []

    def counted(bucket: Any) -> Any:
        exchanges.append(1)
        return hooks.allreduce_hook(None, bucket)

    model = wrapped_probe()
    model.register_comm_hook(None, lambda _, bucket: counted(bucket))  # DDP refuses annotations other than its own
    accumulate(model, [batch for batches in own_epochs(num_epochs) for batch in batches])
    gradient = model.module.bias.grad
    return {
        "gradient": np.zeros(0) if gradient is None else gradient.numpy(),
        "num_exchanges": len(exchanges),
        "samples": [record.samples for record in model.module.records],
    }


def unequal(train_all: Answer, rate: float) -> dict[str, Any]:
    """Train on as many batches as this rank has; return the weights at the end, and the samples of each step."""
    model = wrapped_probe()
    batches = [tensors(batch) for batch in places.private()["batches"]]
    train_all(model, torch.optim.SGD(model.parameters(), lr=rate), batches)
    return {"bias": model.module.bias.detach().numpy(), "samples": [record.samples for record in model.module.records]}


def collective(answer: Answer, *more: Any) -> dict[str, Array]:
    """Call the answer with this rank's own tensor; return what it returns, and the tensor after the call."""
    own = torch.tensor(np.asarray(places.private()))
    returned = answer(own, *more)
    require_returned(answer, returned, fits=isinstance(returned, torch.Tensor), expected="a tensor")
    return {"returned": returned.detach().numpy(), "own": own.numpy()}


def _moved(model: Any) -> Any:
    """Return an optimiser that has made one step, so that it has momenta."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=MOMENTUM)
    x, y = tensors(np.asarray(places.private()["samples"])[:BATCH_SIZE])
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    return optimizer


def _state(model: Any, optimizer: Any) -> dict[str, Array]:
    """Return weights, buffer and momenta of a probe."""
    momenta = [one.get("momentum_buffer") for one in optimizer.state.values()]
    found = {name: one.numpy().copy() for name, one in model.state_dict().items()}
    return {**found, "momentum": np.asarray(momenta[0] if momenta else 0.0)}


def _buffered(start: Array) -> Any:
    """Return a probe that has a buffer as well, which starts at a number that follows from its weights."""
    probe = make_probe(start)
    probe.register_buffer(BUFFER, 2 * probe.bias.detach()[:3])
    return probe


def saved(save: Answer, num_epochs: int) -> dict[str, Any]:
    """Let the answer save this rank's model in its own folder; return what it has, and what rank 0 has written."""
    folder = places.here().own
    model = torch.nn.parallel.DistributedDataParallel(_buffered(places.private()["starts"][0]))
    optimizer = _moved(model)
    save(model, optimizer, num_epochs, folder)
    path, found = Path(folder, CHECKPOINT), dict[str, Any]()
    if path.exists():
        state = torch.load(path, map_location="cpu", weights_only=True)
        require_returned(save, state, fits=isinstance(state, dict), expected="a checkpoint that is a dictionary")
        for part in ("model", "optimizer"):
            if not isinstance(state.get(part), dict):
                raise WrongReturnError(f'the file has no state_dict() as "{part}"', "checkpoint.no-state")
        of_model, of_optimizer = state["model"], state["optimizer"]
        arrays = {str(name): one.detach().numpy() for name, one in of_model.items() if torch.is_tensor(one)}
        found = {"names": [str(name) for name in of_model], "weights": arrays}
        found |= {"num_momenta": len(of_optimizer.get("state", ())), "num_epochs": state.get("num_epochs")}
    return {"found": found, **_state(model.module, optimizer)}


def resumed(resume: Answer, num_epochs: int) -> dict[str, Any]:
    """Let the answer resume from an empty folder, and from a checkpoint that rank 0 wrote, as if from its GPU.

    Each rank's model has a start of its own.
    """
    folder = places.here().shared / "checkpoints"
    folder.mkdir(exist_ok=True)
    fresh = [_buffered(start) for start in places.private()["starts"]]
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1, momentum=MOMENTUM) for model in fresh]
    wrapped = [torch.nn.parallel.DistributedDataParallel(model) for model in fresh]
    none = resume(wrapped[0], optimizers[0], folder)
    dist.barrier()
    is_saving = [True]
    torch.serialization.register_package(1, lambda _: "cuda:0" if is_saving else None, lambda *_: None)
    written = {}
    if dist.get_rank() == 0:
        model = _buffered(places.private()["starts"][2])
        optimizer = _moved(model)
        written = _state(model, optimizer)
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
        torch.save(state, folder / CHECKPOINT)
    is_saving.clear()
    dist.barrier()
    epochs = [require_number(resume, one) for one in (none, resume(wrapped[1], optimizers[1], folder))]
    return {"written": written, "num_epochs": epochs, **_state(fresh[1], optimizers[1])}


def evaluated(evaluate: Answer, bias: Array, batch_size: int) -> dict[str, Any]:
    """Evaluate a probe on samples whose labels only this rank knows; return the result and what the probe saw."""
    probe, labels = make_probe(np.asarray(bias, np.float32)), places.private()["labels"]
    dataset = torch.utils.data.TensorDataset(*tensors(np.arange(len(labels)), labels))
    result = require_entries(evaluate, evaluate(probe, dataset, batch_size))
    return {"result": result, "records": probe.records}
