"""Drivers of lab 08's checkpoints: on ranks, a probe with a buffer is saved and read again."""

from pathlib import Path
from typing import Any

import numpy as np

from coursekit.drivers import places
from coursekit.drivers.calls import Answer, Array, Late, WrongReturnError, require_number, require_returned
from coursekit.drivers.lab08 import BATCH_SIZE, make_probe, tensors
from coursekit.drivers.probe_model import MOMENTUM

torch: Any = Late("torch")
dist: Any = Late("torch.distributed")

CHECKPOINT = "checkpoint.pt"
BUFFER = "odd_mean"  # of the probes whose state is written; str.lstrip("module.") would strip its first letters
RATE, OTHER_RATE = 0.1, 0.25  # of the written state, and of the optimiser that reads it


def _step(model: Any, optimizer: Any) -> None:
    """Take one step, so that the optimiser has momenta to save."""
    optimizer.zero_grad()
    x, y = tensors(np.asarray(places.private()["samples"])[:BATCH_SIZE])
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()


def _sgd(model: Any, rate: float = RATE) -> Any:
    return torch.optim.SGD(model.parameters(), lr=rate, momentum=MOMENTUM)


def _state(model: Any, optimizer: Any) -> dict[str, Array]:
    """Return the weights, buffer and momenta of a probe."""
    momenta = [one.get("momentum_buffer") for one in optimizer.state.values()]
    found = {name: one.numpy().copy() for name, one in model.state_dict().items()}
    return {**found, "momentum": np.array(momenta[0] if momenta and momenta[0] is not None else 0.0)}


def _buffered(start: Array) -> Any:
    """Return a probe that also has a buffer, whose initial numbers follow from the weights."""
    probe = make_probe(start)
    probe.register_buffer(BUFFER, 2 * probe.bias.detach()[:3])
    return probe


def saved(save: Answer, num_epochs: int) -> dict[str, Any]:
    """Let the answer save this rank's model twice in its own folder; return its state, and what rank 0 has written.

    Between the two calls, the model takes a step, and its buffer changes; "earlier" is the state before the step.
    """
    folder = places.here().own
    model = torch.nn.parallel.DistributedDataParallel(_buffered(places.private()["starts"][0]))
    optimizer, states = _sgd(model), []
    for number in (1, num_epochs):
        _step(model, optimizer)
        getattr(model.module, BUFFER).add_(1)
        states.append(_state(model.module, optimizer))
        save(model, optimizer, number, folder)
    path, found = Path(folder, CHECKPOINT), dict[str, Any]()
    if path.exists():
        state = torch.load(path, map_location="cpu", weights_only=True)
        require_returned(save, state, fits=isinstance(state, dict), expected="a checkpoint that is a dictionary")
        for part in ("model", "optimizer"):
            if not isinstance(state.get(part), dict):
                raise WrongReturnError(f'the checkpoint has no state_dict() under "{part}"', "checkpoint.no-state")
        of_model, of_optimizer = state["model"], state["optimizer"]
        arrays = {str(name): one.detach().numpy() for name, one in of_model.items() if torch.is_tensor(one)}
        found = {"names": [str(name) for name in of_model], "weights": arrays, "num_epochs": state.get("num_epochs")}
        momenta = [one.get("momentum_buffer") for one in of_optimizer.get("state", {}).values()]
        found |= {"num_momenta": len(momenta), "momentum": np.array(momenta[0] if momenta else 0.0, dtype=float)}
        found |= {"rate": of_optimizer.get("param_groups", [{}])[0].get("lr")}
    return {"found": found, "earlier": states[0], **states[1]}


def resumed(resume: Answer, num_epochs: int) -> dict[str, Any]:
    """Let the answer resume from an empty folder, and from a checkpoint that rank 0 wrote as if from a GPU.

    Each rank's model starts with different weights. Finally, the file is truncated; "is_swallowed" says whether the
    answer continues nevertheless.
    """
    folder = places.here().shared / "checkpoints"
    folder.mkdir(exist_ok=True)
    fresh = [_buffered(start) for start in places.private()["starts"]]
    optimizers = [_sgd(model, OTHER_RATE) for model in fresh]
    wrapped = [torch.nn.parallel.DistributedDataParallel(model) for model in fresh]
    none = resume(wrapped[0], optimizers[0], folder)
    dist.barrier()
    is_saving = [True]
    torch.serialization.register_package(1, lambda _: "cuda:0" if is_saving else None, lambda *_: None)
    written = {}
    if dist.get_rank() == 0:
        model = _buffered(places.private()["starts"][2])
        optimizer = _sgd(model)
        _step(model, optimizer)
        written = _state(model, optimizer)
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
        torch.save(state, folder / CHECKPOINT)
    is_saving.clear()
    dist.barrier()
    epochs = [require_number(resume, one) for one in (none, resume(wrapped[1], optimizers[1], folder))]
    found = {"written": written, "num_epochs": epochs, "untouched": fresh[0].bias.detach().numpy().copy()}
    found |= {"rate": float(optimizers[1].param_groups[0]["lr"]), **_state(fresh[1], optimizers[1])}
    return {**found, "is_swallowed": _is_swallowed(resume, wrapped[2], optimizers[2], folder)}


def _is_swallowed(resume: Answer, wrapped: Any, optimizer: Any, folder: Path) -> bool:
    """Return whether the answer continues even though the checkpoint cannot be read."""
    dist.barrier()
    if dist.get_rank() == 0:
        (folder / CHECKPOINT).write_bytes((folder / CHECKPOINT).read_bytes()[:100])
    dist.barrier()
    try:
        resume(wrapped, optimizer, folder)
    except Exception:  # noqa: BLE001  # any error is right
        dist.destroy_process_group()  # the other ranks may wait for what this rank reads
        return False
    return True
