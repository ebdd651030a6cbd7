"""Which GPUs the ranks of one node may use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HIDE_GPUS = {"CUDA_VISIBLE_DEVICES": "-1"}


def num_gpus(environ: Mapping[str, str], devices: Path = Path("/dev")) -> int:
    """Return the number of NVIDIA GPUs that a process with this environment may use, without loading CUDA."""
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return len(list(devices.glob("nvidia[0-9]*")))
    return len([name for name in visible.split(",") if name.strip() not in {"", "-1"}])


def gpu_environ(environ: Mapping[str, str], ranks_per_node: int, *, use_gpus: bool | None) -> dict[str, str]:
    """Return the environment of ranks: GPUs are hidden when not wanted, or when there is not one for each rank.

    TensorFlow takes nearly all memory of a GPU at once, so a second rank on the same GPU fails.
    """
    wanted = num_gpus(environ) >= ranks_per_node if use_gpus is None else use_gpus
    return dict(environ) if wanted else {**environ, **HIDE_GPUS}
