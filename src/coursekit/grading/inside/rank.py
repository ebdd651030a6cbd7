"""A rank inside the sandbox: its folders, and its task, which is to call a driver with the answers."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import cloudpickle

from coursekit.drivers.places import Place, settle
from coursekit.grading.inside import wire
from coursekit.grading.isolation import namespaces
from coursekit.grading.isolation.allowance import Allowance
from coursekit.grading.isolation.namespaces import OWN, SHARED_VARIABLE
from coursekit.grading.isolation.sandbox import SHARED
from coursekit.ranks.request import INPUT_VARIABLE
from coursekit.ranks.worker import seed_all

OWN_VARIABLE = "COURSEKIT_OWN"  # where a rank finds the folder that is its own; "{rank}" in it stands for its number


class Folders:
    """Folders of one launch: one that all ranks share, and one for each of them."""

    def __init__(self, parent: Path, num_ranks: int) -> None:
        self.parent = parent
        self.shared = parent / "shared"
        self.own = [parent / str(rank) for rank in range(num_ranks)]
        for folder in (self.shared, *self.own):
            folder.mkdir(parents=True)

    def environ(self, allowance: Allowance) -> dict[str, str]:
        """Return the variables by which `drive` finds them."""
        shared, own = (SHARED, OWN) if allowance.isolated else (str(self.shared), str(self.parent / "{rank}"))
        return {SHARED_VARIABLE: shared, OWN_VARIABLE: own}


def isolate_rank(allowance: Allowance, folders: Folders, rank: int) -> None:
    """Return in a new, isolated process that sees this rank's folders."""
    namespaces.enter(replace(allowance, shared=folders.shared, own=folders.own[rank]))


def drive(call: bytes, packed: bytes) -> bytes:
    """Call the driver of `call` with the answers in `packed`, and return its result as `wire` writes it.

    The seed and the private value come in a file of this rank's own.
    """
    with os.fdopen(int(os.environ.pop(INPUT_VARIABLE)), "rb") as own_input:
        seed, private = wire.loads(own_input.read())
    seed_all(seed)
    own = os.environ[OWN_VARIABLE].format(rank=os.environ["HOROVOD_RANK"])
    settle(Place(private, Path(own), Path(os.environ[SHARED_VARIABLE])))
    driver, args = wire.loads(call, cloudpickle.loads(packed))
    return wire.dumps(driver(*args))
