"""The environment of ranks: what must not leak in, and what Horovod needs to find its peers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Variables of a surrounding launcher. A program started with them believes to be a part of that launcher's job:
# mpirun refuses to start inside mpirun, and a lone process takes itself for rank 3 of 8.
LAUNCHER_PREFIXES = ("HOROVOD_", "OMPI_", "PMIX_", "PMI_", "PMI2_", "PRTE_", "HYDRA_")

LOOPBACK = "127.0.0.1"


def scrubbed(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a copy of the environment without the variables of a surrounding launcher."""
    source = os.environ if environ is None else environ
    return {name: value for name, value in source.items() if not name.startswith(LAUNCHER_PREFIXES)}


def gloo_environ(  # noqa: PLR0913  # these are the six numbers that place a rank
    *,
    rank: int,
    size: int,
    local_rank: int,
    local_size: int,
    rendezvous: tuple[str, int],
    interface: str | None = None,
) -> dict[str, str]:
    """Return the variables from which Horovod's Gloo controller learns its place.

    Nodes must be filled one after the other with `local_size` ranks each, the last one with the rest.
    The names are those that `horovodrun --gloo` sets (Horovod 0.28, `horovod/runner/gloo_run.py`).
    """
    node = rank // local_size
    num_nodes = -(-size // local_size)
    ranks_on_node = min(local_size, size - node * local_size)
    nodes_with_this_local_rank = sum(1 for first in range(0, size, local_size) if first + local_rank < size)
    variables = {
        "HOROVOD_RANK": rank,
        "HOROVOD_SIZE": size,
        "HOROVOD_LOCAL_RANK": local_rank,
        "HOROVOD_LOCAL_SIZE": ranks_on_node,
        "HOROVOD_CROSS_RANK": node,
        "HOROVOD_CROSS_SIZE": nodes_with_this_local_rank if num_nodes > 1 else 1,
        "HOROVOD_HOSTNAME": f"node{node}",
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": rendezvous[0],
        "HOROVOD_GLOO_RENDEZVOUS_PORT": rendezvous[1],
    }
    if interface is not None:
        variables["HOROVOD_GLOO_IFACE"] = interface
    return {name: str(value) for name, value in variables.items()}
