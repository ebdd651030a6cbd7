"""Drivers of lab 08's last section: what ranks hold under DDP, ZeRO-1 and FSDP."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import Answer, Array, Late, require_entries, require_number, require_returned

torch: Any = Late("torch")
fsdp: Any = Late("torch.distributed.fsdp")

RATE = 0.01  # not Adam's default
WIDTH = 12  # of the layers that are sharded, so that 2, 3 and 4 ranks get equal parts
NUM_LAYERS = 3
BUFFER_SIZE = 40
NUM_BYTES = {"zero": 8, "fsdp": 8}  # per number in these kinds; 4 in others
IRREGULAR = (7, 10, 5)  # widths of layers that split into unequal parts
SETTINGS = ("betas", "eps", "weight_decay", "amsgrad", "maximize")  # of Adam, which change its result
BEFORE = " before its first step"  # there are no gradients then, and Adam has no state


def _layers() -> Any:
    """Return layers with the same initial weights on all ranks."""
    torch.manual_seed(0)
    first, *others, last = (torch.nn.Linear(WIDTH, WIDTH) for _ in range(NUM_LAYERS))
    return torch.nn.Sequential(first, *(torch.nn.Sequential(one, torch.nn.Tanh()) for one in others), last)


def _plain(model: Any) -> Array:
    """Return all weights of a model, sharded or not, as one array."""
    whole = [one.full_tensor() if hasattr(one, "full_tensor") else one for one in model.parameters()]
    return np.concatenate([one.detach().numpy().ravel() for one in whole])


def _adam(parameters: Any) -> Any:
    return torch.optim.Adam(parameters, lr=RATE)


def _step(model: Any, optimizer: Any) -> None:
    x = torch.tensor(np.asarray(places.private())).to(next(model.parameters()).dtype)
    for _ in range(2):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    model(x).square().mean().backward()  # so that there are gradients


def _held(model: Any, optimizer: Any) -> dict[str, int]:
    """Return the bytes that a rank holds; Adam's counters, one number for each tensor, are listed separately."""

    def size(tensors: Sequence[Any]) -> int:
        return sum(one.to_local().nbytes if hasattr(one, "to_local") else one.nbytes for one in tensors)

    parameters = list(model.parameters())
    inner = getattr(optimizer, "optim", optimizer)  # ZeRO's optimiser for this rank's share
    state = [one for of in inner.state.values() for one in of.values() if torch.is_tensor(one)]
    gradients = [one.grad for one in parameters if one.grad is not None]
    found = {"parameters": size(parameters), "gradients": size(gradients)}
    return {
        **found,
        "optimizer": size([one for one in state if one.dim()]),
        "counters": size([one for one in state if not one.dim()]),
    }


def _wrap(model: Any) -> Any:
    return torch.nn.parallel.DistributedDataParallel(model)


def _of_kind(kind: str, layers: Any = None) -> tuple[Any, Any]:
    """Return layers and their optimiser for the kind "ddp", "zero" or "fsdp"."""
    layers = layers or _layers()
    if kind == "fsdp":
        for part in (*layers, layers):
            fsdp.fully_shard(part)
        return layers, _adam(layers.parameters())
    model = _wrap(layers)
    if kind == "ddp":
        return model, _adam(model.parameters())
    zero = Late("torch.distributed.optim").ZeroRedundancyOptimizer
    return model, zero(model.parameters(), torch.optim.Adam, lr=RATE)


def _irregular(kind: str) -> Any:
    """Return layers that split into unequal parts; one is frozen, and one has a buffer."""
    sizes = (WIDTH, *IRREGULAR)
    layers = torch.nn.Sequential(*(torch.nn.Linear(*size) for size in zip(sizes, sizes[1:])))
    layers[1].requires_grad_(False)
    layers[2].register_buffer("center", torch.zeros(BUFFER_SIZE))
    return layers.double() if kind in NUM_BYTES else layers


def counted(bytes_held: Answer, kinds: Sequence[str]) -> dict[str, Any]:
    """For each kind, return the bytes that the answer counts, those on this rank, and those of the whole model."""
    found = {}
    for kind in kinds:
        layers = _irregular(kind)
        whole = {"parameters": list(layers.parameters())}
        whole["gradients"] = [one for one in whole["parameters"] if one.requires_grad]
        num_bytes = {name: sum(one.nbytes for one in tensors) for name, tensors in whole.items()}
        model, optimizer = _of_kind(kind.removesuffix(BEFORE), layers)
        if not kind.endswith(BEFORE):
            _step(model, optimizer)
        counts = require_entries(bytes_held, bytes_held(model, optimizer))
        found[kind] = [counts, _held(model, optimizer), {**num_bytes, "optimizer": 2 * num_bytes["gradients"]}]
    return found


def zero(make_zero: Answer) -> dict[str, Any]:
    """Train with the answer's optimiser and with Adam; return the weights of both, the bytes held, and the rate.

    `name` is the class that updates this rank's share. `settings` has the settings that differ from Adam's, with the
    values found and expected.
    """
    model = _wrap(_layers())
    optimizer = make_zero(model, RATE)
    fits = isinstance(optimizer, torch.optim.Optimizer)
    require_returned(make_zero, optimizer, fits=fits, expected="an optimiser")
    overlaps = getattr(optimizer, "_overlap_with_ddp", False)
    require_returned(make_zero, optimizer, fits=not overlaps, expected="an optimiser without overlap_with_ddp")
    of_ranks = optimizer.param_groups[0]
    rate, own = require_number(make_zero, of_ranks["lr"]), _adam(model.parameters()).param_groups[0]
    settings = {name: [str(of_ranks.get(name)), str(own[name])] for name in SETTINGS if of_ranks.get(name) != own[name]}
    name = type(getattr(optimizer, "optim", optimizer)).__name__
    return {**_both(model, optimizer), "rate": rate, "name": name, "settings": settings}


def sharded(shard: Answer) -> dict[str, Any]:
    """Train a model that the answer shards, and one in DDP; return both models' weights, the bytes held, and the units.

    `still_whole` tells whether any layer still has all its weights after the forward pass of its unit.
    """
    layers = _layers()
    model = shard(layers)
    fits = isinstance(model, torch.nn.Module) and not isinstance(model, torch.nn.parallel.DistributedDataParallel)
    require_returned(shard, model, fits=fits, expected="the model without DDP")
    units = [one for one in model.modules() if isinstance(one, fsdp.FSDPModule)]
    of_units = [[part for part in one.modules() if isinstance(part, torch.nn.Linear)] for one in units]
    still_whole = []
    # A unit may be a wrapper around a layer. FSDP's own hooks, which release the weights, run first.
    for linear in (one for one in model.modules() if isinstance(one, torch.nn.Linear)):
        around = [unit for unit, parts in zip(units, of_units) if linear in parts]
        unit = around[-1] if around and around[-1] is not model else linear
        unit.register_forward_hook(lambda *_, one=linear: still_whole.append(not hasattr(one.weight, "to_local")))
    found: dict[str, Any] = {
        "num_units": len({parts[0] for parts in of_units if len(parts) == 1}),
        "is_unit": isinstance(model, fsdp.FSDPModule),
    }
    found["policies"] = sorted({name for unit in units for name in _policies(unit)})
    return {**_both(model, _adam(model.parameters())), **found, "still_whole": any(still_whole)}


def _policies(unit: Any) -> list[str]:
    """Return the names of a unit's policies that are not FSDP's defaults."""
    group = getattr(unit._get_fsdp_state(), "_fsdp_param_group", None)  # noqa: SLF001  # there is no public name
    usual = {"offload_policy": fsdp.OffloadPolicy(), "mp_policy": fsdp.MixedPrecisionPolicy()}
    return [name for name, policy in usual.items() if getattr(group, name, policy) != policy]


def predicted(predict_bytes: Answer, cases: Sequence[tuple[str, float, int]]) -> list[dict[str, float]]:
    """Return what the answer predicts in each case."""
    return [require_entries(predict_bytes, predict_bytes(*case)) for case in cases]


def budgets(fewest_gpus: Answer, cases: Sequence[tuple[Any, ...]]) -> list[float | None]:
    """Return the answer's number of GPUs in each case, or None if it gives none."""
    found = [fewest_gpus(*case) for case in cases]
    return [None if one is None else require_number(fewest_gpus, one, "a number of GPUs or None") for one in found]


def _both(model: Any, optimizer: Any) -> dict[str, Any]:
    reference, of_reference = _of_kind("ddp")
    for pair in ((model, optimizer), (reference, of_reference)):
        _step(*pair)
    return {"weights": _plain(model), "expected": _plain(reference), "held": _held(model, optimizer)}
