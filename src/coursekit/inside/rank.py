"""What a rank does within the walls: unpack the answers, call the driver, return plain data."""

from __future__ import annotations

import os
from pathlib import Path

import cloudpickle

from coursekit.drivers.places import Place, settle
from coursekit.inside import wire
from coursekit.ranks.server import INPUT_VARIABLE
from coursekit.ranks.worker import seed_all
from coursekit.sandbox.namespaces import SHARED_VARIABLE

WALLED_VARIABLE = "COURSEKIT_WALLED"


def drive(call: bytes, packed: bytes) -> bytes:
    """Call the driver of `call` with the answers in `packed`, and return its result as `wire` writes it.

    The seed and the private value come in a file of this rank's own.
    """
    with os.fdopen(int(os.environ.pop(INPUT_VARIABLE)), "rb") as own_input:
        seed, private = wire.loads(own_input.read())
    seed_all(seed)
    # Within walls all ranks know their folder by one name, as file names may travel between ranks.
    name = "own" if os.environ.get(WALLED_VARIABLE) else f"own-{os.environ['HOROVOD_RANK']}"
    own = Path(os.environ["TMPDIR"]) / name
    own.mkdir(exist_ok=True)
    settle(Place(private, own, Path(os.environ[SHARED_VARIABLE])))
    driver, args = wire.loads(call, cloudpickle.loads(packed))
    return wire.dumps(driver(*args))
