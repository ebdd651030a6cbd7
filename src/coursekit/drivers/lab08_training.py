"""Drivers of lab 08's second section: training a probe on ranks, and adding up its gradients over batches."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from unittest import mock

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import Answer, Late, WrongReturnError, require_returned, require_values
from coursekit.drivers.lab08 import make_probe, tensors

torch: Any = Late("torch")
dist: Any = Late("torch.distributed")

Plan = Sequence[Sequence[tuple[int, float]]]  # by epoch, the size of each batch, and the gain of its gradients
# Functions that send tensors between ranks.
SENDERS = ("all_reduce", "reduce", "broadcast", "all_gather", "all_gather_into_tensor", "all_gather_object", "send")


class _Epoch:
    """The batches of an epoch as a loader gives them; `is_read` tells whether the last batch has been given."""

    def __init__(self, batches: Sequence[Any]) -> None:
        self._batches = batches
        self.is_read = False

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[Any]:
        for number, batch in enumerate(self._batches, 1):
            self.is_read = number == len(self)
            yield batch


def own_epochs(plan: Plan, too_early: list[int]) -> Iterator[_Epoch]:
    """Yield epochs of this rank's private samples.

    If an epoch is requested before the previous one has been read, its number is added to `too_early`.
    """
    samples, epoch = np.asarray(places.private()["samples"]), None
    for number, batches in enumerate(plan):
        if epoch and not epoch.is_read:
            too_early.append(number)
        own = np.split(samples, np.cumsum([size for size, _ in batches]))
        samples = own.pop()
        epoch = _Epoch([tensors(one, gain=gain) for one, (_, gain) in zip(own, batches)])
        yield epoch


@contextmanager
def _on_cpus() -> Iterator[list[str]]:
    """Make DDP ignore the GPUs that an answer names; yield a list of these GPUs."""
    ddp = torch.nn.parallel.DistributedDataParallel
    make, named = ddp.__init__, list[str]()

    @wraps(make)
    def init(
        self: Any, module: Any, device_ids: Any = None, output_device: Any = None, *args: Any, **more: Any
    ) -> None:
        named.extend(str(one) for one in (device_ids, output_device) if one is not None and one != [])
        make(self, module, None, None, *args, **more)

    with mock.patch.object(ddp, "__init__", init):
        yield named


def trained(train: Answer, plan: Plan, rate: float) -> dict[str, Any]:
    """Train a probe with this rank's own initial weights on its own samples; return what it saw, and the result.

    `wrong` says what is wrong with the values that the answer returns; `move` is the optimiser's last move.
    """
    probe, too_early = make_probe(places.private()["starts"][0]), list[int]()
    with _on_cpus() as gpus:
        returned = train(probe, own_epochs(plan, too_early), rate)
    found = {"records": probe.records, "end": probe.bias.detach().float().numpy(), "too_early": too_early}
    found |= {"wrong": "", "gpus": gpus, "rate": 0.0, "move": np.zeros(0)}
    try:
        require_values(train, returned, "a pair of the wrapped model and its optimiser", 2)
        fits, expected = getattr(returned[0], "module", None) is probe, "the wrapped model as the first value"
        require_returned(train, returned[0], fits=fits, expected=expected)
        fits, expected = isinstance(returned[1], torch.optim.Optimizer), "an optimiser as the second value"
        require_returned(train, returned[1], fits=fits, expected=expected)
    except WrongReturnError as error:
        return {**found, "wrong": str(error)}
    optimizer = returned[1]
    rate = float(optimizer.param_groups[0]["lr"])
    velocity = optimizer.state.get(probe.bias, {}).get("momentum_buffer")
    move = np.zeros(0) if velocity is None else -rate * velocity.float().numpy()
    return {**found, "rate": rate, "move": move}


def wrapped_probe() -> Any:
    """Return a wrapped probe that started at this rank's own weights; wrapping has given it rank 0's weights."""
    return torch.nn.parallel.DistributedDataParallel(make_probe(places.private()["starts"][0]))


@contextmanager
def _counted_sends(least: int) -> Iterator[list[str]]:
    """Yield a list of the functions by which an answer itself sends tensors with at least this many numbers."""
    sent: list[str] = []

    def noting(name: str, send: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(send)
        def noted(first: Any, *args: Any, **settings: Any) -> Any:
            tensor = args[0] if isinstance(first, list) and args else first
            if getattr(tensor, "numel", int)() >= least:
                sent.append(name)
            return send(first, *args, **settings)

        return noted

    with ExitStack() as stack:
        for name in SENDERS:
            stack.enter_context(mock.patch(f"torch.distributed.{name}", noting(name, getattr(dist, name))))
        yield sent


def accumulated(accumulate: Answer, plan: Plan) -> dict[str, Any]:
    """Return the gradient after all of this rank's batches, and how often gradients were exchanged."""
    hooks = Late("torch.distributed.algorithms.ddp_comm_hooks.default_hooks")
    model = wrapped_probe()
    bias = model.module.bias
    with _counted_sends(bias.numel()) as sent:

        def counted(bucket: Any) -> Any:
            sent.append("")  # once, whether or not the hook sends by a call that is noted
            before = len(sent)
            future = hooks.allreduce_hook(None, bucket)
            del sent[before:]
            return future

        model.register_comm_hook(None, lambda _, bucket: counted(bucket))  # DDP refuses annotations other than its own
        accumulate(model, [batch for batches in own_epochs(plan, []) for batch in batches])
    return {
        "gradient": np.zeros(0) if bias.grad is None else bias.grad.float().numpy(),
        "num_exchanges": len(sent),
        "samples": [record.samples for record in model.module.records],
    }


def unequal(train_all: Answer, rate: float, gain: float) -> dict[str, Any]:
    """Train on all batches of this rank; return the weights at the end, and the samples of each step."""
    model = wrapped_probe()
    batches = [tensors(batch, gain=gain) for batch in places.private()["batches"]]
    train_all(model, torch.optim.SGD(model.parameters(), lr=rate), batches)
    return {"bias": model.module.bias.detach().numpy(), "samples": [record.samples for record in model.module.records]}
