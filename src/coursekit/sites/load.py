"""Find and read the files of sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit import strict_toml
from coursekit.errors import CourseKitError
from coursekit.sites.profile import CONTROLLERS, GPU_REQUESTS, STATUSES, Site

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FOLDER = "slurm/sites"


def site_names(root: Path) -> list[str]:
    """Return the names of all sites, sorted."""
    return sorted(path.stem for path in (root / FOLDER).glob("*.toml"))


def load_site(root: Path, name: str) -> Site:
    """Read one site's file and check it.

    Raises:
        CourseKitError: there is no such site, or its file is wrong; the message names file and key.
    """
    names = site_names(root)
    if name not in names:
        raise CourseKitError(f"there is no site {name!r}: {FOLDER}/ has {', '.join(names) or 'none'}.")
    where = f"{FOLDER}/{name}.toml"
    site = strict_toml.load(Site, root / where, where, name=name)
    _check(site, where)
    return site


def _check(site: Site, where: str) -> None:
    """Check what types cannot say."""
    _check_choice(where, "status", site.status, STATUSES)
    _check_choice(where, "default_partition", site.default_partition, site.partitions)
    _check_choice(f"{where} [launch]", "controller", site.launch.controller, CONTROLLERS)
    for key, partition in site.partitions.items():
        here = f"{where} [partitions.{key}]"
        _check_choice(here, "gpu_request", partition.gpu_request, GPU_REQUESTS)
        for name in partition.qos:
            _check_choice(here, "qos", name, site.qos)
        if partition.partition_qos:
            _check_choice(here, "partition_qos", partition.partition_qos, site.qos)
        if partition.shares_nodes_with:
            _check_choice(here, "shares_nodes_with", partition.shares_nodes_with, set(site.partitions) - {key})
        if partition.default_time_min > partition.max_time_min:
            raise CourseKitError(f"{here}: default_time_min must not be above max_time_min.")


def _check_choice(where: str, key: str, value: str, choices: Iterable[str]) -> None:
    if value not in choices:
        raise CourseKitError(f"{where}: {key} is {value!r}, but must be one of {', '.join(sorted(choices))}.")
