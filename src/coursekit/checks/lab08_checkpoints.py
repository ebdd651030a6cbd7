"""Checks of lab 08's checkpoints: the contents of the file, and the state of the ranks after they have read it."""

import numpy as np

from coursekit.checks.check import fresh_rng, require
from coursekit.checks.compare import brief, explained, require_close, require_equal
from coursekit.checks.on_ranks import run_and_look, run_on_ranks
from coursekit.checks.private_data import draw_private
from coursekit.checks.shards import check_writers
from coursekit.drivers import lab08_checkpoints as drivers
from coursekit.drivers.calls import Answer
from coursekit.drivers.lab08 import BATCH_SIZE, joined
from coursekit.errors import Cause

NUM_CLASSES = 31
ALIKE = 1e-6  # numbers in 32 bits


def check_save(save: Answer, num_ranks: int) -> None:
    """Only rank 0 writes a file, with the model (readable without DDP), the optimiser and the number of epochs."""
    num_epochs = int(fresh_rng().integers(2, 50))
    private = draw_private(num_ranks, NUM_CLASSES, num_samples=2 * BATCH_SIZE)
    args = (drivers.saved, save, num_epochs)
    alone = "the file must hold only tensors, numbers and text: save the state_dict() of model and optimiser"
    with explained(dict.fromkeys(("<locals>", "Weights only load failed"), Cause(alone, "checkpoint.whole-objects"))):
        results, written = run_and_look(*args, num_ranks=num_ranks, wrapper=joined, private=private)
    check_writers(written)
    files = f"files of rank 0: expected {drivers.CHECKPOINT}, got {brief(sorted(written[0]))}"
    require(drivers.CHECKPOINT in written[0], files, "checkpoint.missing")
    found, there = results[0]["found"], results[0]
    names = sorted(found["names"])
    no_buffers = "state_dict() also has the buffers, such as the running mean of a batch normalisation"
    mistakes = {Cause(no_buffers, "checkpoint.no-buffers"): ["bias"]}
    if "module.bias" in names:
        wrapped = "these are names of the wrapped model: save the state of wrapped.module"
        mistakes = {Cause(wrapped, "checkpoint.of-wrapped"): names}
    right = ["bias", drivers.BUFFER]
    require_equal(
        names, right, "the names in the saved state of the model", "checkpoint.wrong-names", mistakes=mistakes
    )
    for name in names:
        require(name in found["weights"], f"{name!r} in the file is not a tensor", "checkpoint.no-tensor")
        got = found["weights"][name]
        is_old = np.shape(got) == np.shape(there["earlier"][name]) and np.allclose(got, there["earlier"][name])
        message = f"{name!r} in the file is from the first of two calls of save: the second call must replace it"
        require(not is_old, message, "checkpoint.not-replaced")
        require_close(got, there[name], f"{name!r} in the file", "checkpoint.wrong-weights")
    require_equal(found["num_momenta"], 1, "the number of momenta in the file", "checkpoint.no-momenta")
    is_same = np.shape(found["momentum"]) == there["momentum"].shape
    is_same = is_same and np.allclose(found["momentum"], there["momentum"], atol=ALIKE)
    require(is_same, "the momenta in the file differ from the optimiser's", "checkpoint.wrong-momenta")
    require_equal(found["rate"], drivers.RATE, "the optimiser's rate in the file", "checkpoint.wrong-rate")
    require_equal(found["num_epochs"], num_epochs, '"num_epochs" in the file', "checkpoint.wrong-epochs")


def check_resume(resume: Answer, num_ranks: int) -> None:
    """Every rank gets the weights, momenta, rate and number of epochs from a checkpoint that was written on a GPU."""
    num_epochs = int(fresh_rng().integers(2, 50))
    private = draw_private(num_ranks, NUM_CLASSES, num_rounds=3, num_samples=BATCH_SIZE)
    launch = {"num_ranks": num_ranks, "private": private}
    results = run_on_ranks(drivers.resumed, resume, num_epochs, wrapper=joined, **launch)
    written = results[0]["written"]
    for rank, found in enumerate(results):
        what = f"without a checkpoint, the return value of resume on rank {rank}"
        require_equal(found["num_epochs"][0], 0.0, what, "resume.from-nothing")
        gap = np.abs(np.subtract(found["untouched"], private[0]["starts"][0])).max()
        require(gap < ALIKE, f"without a checkpoint, resume changes the weights on rank {rank}", "resume.changes")
        where = f"after resume on rank {rank}"
        for name, words in (("bias", "weights"), (drivers.BUFFER, "buffers")):
            gap = np.abs(np.subtract(found[name], written[name])).max()
            hint = ": load_state_dict loads them, too" if name == drivers.BUFFER else ""
            message = f"{where}, the {words} differ from the checkpoint"
            require(gap < ALIKE or not rank, f"{message}: every rank must load them", "resume.rank-0-alone")
            require(gap < ALIKE, f"{message}{hint}", "resume.wrong-state")
        momentum, expected = np.asarray(found["momentum"]), np.asarray(written["momentum"])
        is_same = momentum.shape == expected.shape and np.allclose(momentum, expected, atol=ALIKE)
        message = f"{where}, the momenta differ from the checkpoint: load the optimiser's state, too"
        require(is_same, message, "momenta.lost")
        own = Cause("this is the rate before resume: take the checkpoint's rate", "resume.own-rate")
        mistakes = {own: drivers.OTHER_RATE}
        require_equal(found["rate"], drivers.RATE, f"{where}, the rate", "resume.wrong-rate", mistakes=mistakes)
        what = f"the return value of resume on rank {rank}"
        require_equal(found["num_epochs"][1], float(num_epochs), what, "resume.wrong-epochs")
    message = "resume treats an unreadable checkpoint as if there were none, so training would start over"
    require(not results[0]["is_swallowed"], f"{message}: let the error be raised", "resume.swallowed")
