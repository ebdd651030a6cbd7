"""Drivers of lab 08's last section: what ranks hold under DDP, ZeRO-1 and FSDP."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import Answer, Array, Late, require_entries, require_number, require_returned

torch: Any = Late("torch")
fsdp: Any = Late("torch.distributed.fsdp")

RATE = 0.01  # not Adam's default
WIDTH = 12  # of the layers that are sharded: 2, 3 and 4 ranks get equal parts
NUM_LAYERS = 3
BEFORE = " before its first step"  # there are no gradients then, and Adam has no state


def _layers() -> Any:
    """Return layers that start at one place on all ranks."""
    torch.manual_seed(0)
    return torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH) for _ in range(NUM_LAYERS)))


def _plain(model: Any) -> Array:
    """Return all weights of a model, sharded or not, as one array."""
    whole = [one.full_tensor() if hasattr(one, "full_tensor") else one for one in model.parameters()]
    return np.concatenate([one.detach().numpy().ravel() for one in whole])


def _adam(parameters: Any) -> Any:
    return torch.optim.Adam(parameters, lr=RATE)


def _step(model: Any, optimizer: Any) -> None:
    x = torch.tensor(np.asarray(places.private(), np.float32))
    for _ in range(2):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    model(x).square().mean().backward()  # so that there are gradients


def _held(model: Any, optimizer: Any) -> dict[str, int]:
    def size(tensors: Sequence[Any]) -> int:
        return sum(one.to_local().nbytes if hasattr(one, "to_local") else one.nbytes for one in tensors)

    parameters = list(model.parameters())
    inner = getattr(optimizer, "optim", optimizer)  # ZeRO's, of this rank's share
    state = [one for of in inner.state.values() for one in of.values() if torch.is_tensor(one) and one.dim()]
    gradients = [one.grad for one in parameters if one.grad is not None]
    return {"parameters": size(parameters), "gradients": size(gradients), "optimizer": size(state)}


def _wrap(model: Any) -> Any:
    return torch.nn.parallel.DistributedDataParallel(model)


def _of_kind(kind: str) -> tuple[Any, Any]:
    """Return layers and their optimiser: "ddp", "zero" or "fsdp"."""
    if kind == "fsdp":
        model = _layers()
        for part in (*model, model):
            fsdp.fully_shard(part)
        return model, _adam(model.parameters())
    model = _wrap(_layers())
    if kind == "ddp":
        return model, _adam(model.parameters())
    zero = Late("torch.distributed.optim").ZeroRedundancyOptimizer
    return model, zero(model.parameters(), torch.optim.Adam, lr=RATE)


def counted(bytes_held: Answer, kinds: Sequence[str]) -> dict[str, Any]:
    """Return for each kind what the answer counts and what there is, in bytes."""
    found = {}
    for kind in kinds:
        model, optimizer = _of_kind(kind.removesuffix(BEFORE))
        if not kind.endswith(BEFORE):
            _step(model, optimizer)
        found[kind] = [require_entries(bytes_held, bytes_held(model, optimizer)), _held(model, optimizer)]
    return found


def zero(make_zero: Answer) -> dict[str, Any]:
    """Train with the answer's optimiser, and with Adam; return weights of both, the bytes of the optimiser, its rate.

    `name` is that of the class which updates this rank's share.
    """
    model = _wrap(_layers())
    optimizer = make_zero(model, RATE)
    fits = isinstance(optimizer, torch.optim.Optimizer)
    require_returned(make_zero, optimizer, fits=fits, expected="an optimiser")
    rate = require_number(make_zero, optimizer.param_groups[0]["lr"])
    return {**_both(model, optimizer), "rate": rate, "name": type(getattr(optimizer, "optim", optimizer)).__name__}


def sharded(shard: Answer) -> dict[str, Any]:
    """Train what the answer has sharded, and a wrapped model; return weights of both, bytes, and what the units are.

    `still_whole` tells whether a layer has all its weights when its forward pass has ended.
    """
    layers = _layers()
    model = shard(layers)
    fits = isinstance(model, torch.nn.Module) and not isinstance(model, torch.nn.parallel.DistributedDataParallel)
    require_returned(shard, model, fits=fits, expected="the model, without DDP,")
    linear = [one for one in model.modules() if isinstance(one, torch.nn.Linear)]
    still_whole = []
    for layer in linear:  # FSDP's own hooks, which give up the weights, come before
        layer.register_forward_hook(lambda one, *_: still_whole.append(not hasattr(one.weight, "to_local")))
    units = {"num_units": sum(isinstance(one, fsdp.FSDPModule) for one in linear)}
    units |= {"is_unit": isinstance(model, fsdp.FSDPModule)}
    return {**_both(model, _adam(model.parameters())), **units, "still_whole": any(still_whole)}


def _both(model: Any, optimizer: Any) -> dict[str, Any]:
    reference, of_reference = _of_kind("ddp")
    for pair in ((model, optimizer), (reference, of_reference)):
        _step(*pair)
    return {"weights": _plain(model), "expected": _plain(reference), "held": _held(model, optimizer)}
