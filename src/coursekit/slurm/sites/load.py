"""Find and read the files of sites, and check what types cannot say: parts that must fit, traps on the way to GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.slurm.sites.profile import GPU_REQUESTS, STATUSES, Site

FOLDER = "slurm/sites"
HIDES_GPUS = ("--gpus-per-task", "--gpu-bind")
TUNNEL_NAMES = {"user", "node", "port"}


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
    site = toml_files.load(Site, root / where, where, name=name)
    _check_site(site, where)
    return site


def load_sites(root: Path) -> list[Site]:
    """Read all sites, sorted by name; see `load_site`."""
    return [load_site(root, name) for name in site_names(root)]


def _check_site(site: Site, where: str) -> None:
    """Refuse a site whose parts do not fit each other; `where` is its file's name in messages."""
    _check_choice(where, "status", site.status, STATUSES)
    _check_choice(where, "default_partition", site.default_partition, site.partitions)
    if not site.software.shell.startswith("#!"):
        raise CourseKitError(
            f"{where} [software]: shell must begin with #!, as scripts do, not {site.software.shell!r}."
        )
    _check_options(f"{where} [launch]", "srun_options", site.launch.srun_options)
    _check_options(f"{where} [software]", "srun_options", site.software.srun_options)
    _check_jupyter(site, f"{where} [jupyter]")
    for key in site.partitions:
        _check_partition(site, key, f"{where} [partitions.{key}]")
    limit = site.kind().max_num_nodes or site.kind().num_nodes
    if limit and site.num_nodes > limit:  # the committed job scripts must fit into the default partition
        raise CourseKitError(
            f"{where}: num_nodes is {site.num_nodes}, but a job of the default partition has at most {limit} nodes."
        )


def _check_partition(site: Site, key: str, here: str) -> None:
    partition = site.partitions[key]
    _check_choice(here, "gpu_request", partition.gpu_request, GPU_REQUESTS)
    if partition.gpu_request != "none" and not partition.has_gpus:
        raise CourseKitError(f'{here}: gpu is "none", but gpu_request is {partition.gpu_request!r}: name the GPU.')
    for name in filter(None, (*partition.qos, partition.partition_qos)):
        _check_choice(here, "qos", name, site.qos)
    _check_options(here, "directives", partition.directives)
    if partition.default_time_min > partition.max_time_min:
        raise CourseKitError(f"{here}: default_time_min must not be above max_time_min.")
    num_cpus = partition.num_gpus_per_node * partition.num_cpus_per_gpu
    if num_cpus > partition.num_cpus_per_node:
        raise CourseKitError(
            f"{here}: {partition.num_gpus_per_node} ranks with {partition.num_cpus_per_gpu} CPUs each need {num_cpus}, "
            f"but num_cpus_per_node is {partition.num_cpus_per_node}."
        )
    if partition.shares_nodes_with:
        _check_choice(here, "shares_nodes_with", partition.shares_nodes_with, set(site.partitions) - {key})


def _check_options(here: str, key: str, options: Iterable[str]) -> None:
    """Options are long and do not take GPUs out of the ranks' sight."""
    for option in options:
        if not option.startswith("--"):
            raise CourseKitError(f"{here}: {key} has {option!r}: write the long form, which begins with two dashes.")
        if option.startswith(HIDES_GPUS):
            raise CourseKitError(
                f"{here}: {key} has {option!r}, which shows a rank only its own GPU; "
                "ranks pin the GPU of their local rank and have to see all of their node."
            )


def _check_jupyter(site: Site, here: str) -> None:
    if not (site.jupyter.address or site.jupyter.tunnel):
        raise CourseKitError(f"{here}: address or tunnel must say how a browser reaches JupyterLab.")
    unknown = sorted(set(re.findall(r"{(.*?)}", site.jupyter.tunnel)) - TUNNEL_NAMES)
    if unknown:
        allowed = ", ".join(f"{{{name}}}" for name in sorted(TUNNEL_NAMES))
        raise CourseKitError(f"{here}: tunnel uses {unknown}; allowed are {allowed}.")


def _check_choice(where: str, key: str, value: str, choices: Iterable[str]) -> None:
    if value not in choices:
        listed = ", ".join(sorted(choices)) or "those in the file, which lists none"
        raise CourseKitError(f"{where}: {key} is {value!r}, but must be one of {listed}.")
