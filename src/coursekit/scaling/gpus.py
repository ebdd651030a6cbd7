"""GPUs that sites have: their links, and how fast one of them trains, as far as somebody published it."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the strict loader evaluates annotations
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.scaling.machine import Link, Machine
from coursekit.toml_files import MAY_BE_EMPTY

FILE = Path(__file__).with_name("gpus.toml")
GBIT_PER_GBYTE = 8


@dataclass(frozen=True)
class Speed:
    """What one GPU trains, in images/s, and who measured it."""

    network: str
    batch_size: int
    images_per_s: float
    software: str
    source: str
    precision: str = "float32"


@dataclass(frozen=True)
class Gpu:
    """A kind of GPU: its link to those of its node, in GB/s in one direction, and its published speeds."""

    gbyte_per_s: float
    speeds: Annotated[tuple[Speed, ...], MAY_BE_EMPTY] = ()


@dataclass(frozen=True)
class _Latencies:
    within: float
    between: float


@dataclass(frozen=True)
class _File:
    latency_us: _Latencies
    gpus: Mapping[str, Gpu]


@cache
def _read() -> _File:
    return toml_files.load(_File, FILE, FILE.name)


def find_gpu(words: str) -> Gpu:
    """Return the GPU that a site's profile names, such as "NVIDIA A100, 40 GB".

    Raises:
        CourseKitError: it is not known here.
    """
    known = _read().gpus
    name = words.partition(",")[0]
    if name not in known:
        raise CourseKitError(f"the links of {name!r} are not known; {FILE.name} has {', '.join(known)}: add it there.")
    return known[name]


def machine_of(gpu: Gpu, num_gpus_per_node: int, fabric_gbit_per_s: float) -> Machine:
    """Return nodes of such GPUs, each of which sends so much over the fabric."""
    latency = _read().latency_us
    between = Link(fabric_gbit_per_s / GBIT_PER_GBYTE, latency.between)
    return Machine(Link(gpu.gbyte_per_s, latency.within), between, num_gpus_per_node)


def find_speed(gpu: Gpu, network: str, batch_size: int, precision: str) -> Speed | None:
    """Return the published speed with the batch size next to this one (0: the largest), or None."""
    fitting = [one for one in gpu.speeds if (one.network, one.precision) == (network, precision)]
    wanted = batch_size or max((one.batch_size for one in fitting), default=0)
    return min(fitting, key=lambda one: abs(one.batch_size - wanted), default=None)
