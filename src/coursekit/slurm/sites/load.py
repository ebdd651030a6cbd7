"""Find and read the files of sites, and check what types cannot say: parts that must fit, traps on the way to GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.slurm.sites.profile import GPU_REQUESTS, STATUSES, Partition, Site

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
    check_site(site, where)
    return site


def load_sites(root: Path) -> list[Site]:
    """Read all sites, sorted by name.

    Raises:
        CourseKitError: the first file that is wrong, with its key.
    """
    return [load_site(root, name) for name in site_names(root)]


def check_site(site: Site, where: str) -> None:
    """Refuse a site whose parts do not fit each other; `where` is its file's name in messages.

    Raises:
        CourseKitError: something does not fit; the message names file and key.
    """
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
    _check_num_nodes(site, where)
    for note in site.confirm:
        if not _has_key(site, note.key.split(".")):
            raise CourseKitError(f"{where} [[confirm]]: there is no key {note.key!r} to doubt.")


def _check_partition(site: Site, key: str, here: str) -> None:
    partition = site.partitions[key]
    _check_choice(here, "gpu_request", partition.gpu_request, GPU_REQUESTS)
    if partition.gpu_request != "none" and not partition.has_gpus:
        raise CourseKitError(f'{here}: gpu is "none", but gpu_request is {partition.gpu_request!r}: name the GPU.')
    for name in partition.qos:
        _check_choice(here, "qos", name, site.qos)
    if partition.partition_qos:
        _check_choice(here, "partition_qos", partition.partition_qos, site.qos)
    _check_options(here, "directives", partition.directives)
    _check_constraint(partition, here)
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
        _check_same_nodes(partition, site.partitions[partition.shares_nodes_with], here)


def _check_same_nodes(partition: Partition, owner: Partition, here: str) -> None:
    """The very same nodes have the very same hardware."""
    if owner.shares_nodes_with:
        raise CourseKitError(f"{here}: shares_nodes_with must name a partition with nodes of its own.")
    for name in (
        "cpu",
        "fabric",
        "fabric_gbit_per_s",
        "num_gpus_per_node",
        "num_cpus_per_node",
        "memory_gb",
        "features",
    ):
        mine, theirs = getattr(partition, name), getattr(owner, name)
        if mine != theirs:
            raise CourseKitError(f"{here}: {name} is {mine!r}, but its nodes are those of a partition with {theirs!r}.")


def _check_constraint(partition: Partition, here: str) -> None:
    """A constraint asks for features that the nodes have, or no job would ever start."""
    for line in partition.directives:
        if line.startswith("--constraint="):
            for feature in re.findall(r"[\w.-]+", line[len("--constraint=") :]):
                _check_choice(here, "the feature of --constraint", feature, partition.features)


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


def _check_num_nodes(site: Site, where: str) -> None:
    """The committed job scripts must fit into the default partition."""
    partition = site.kind()
    limit = partition.max_num_nodes or partition.num_nodes
    if limit and site.num_nodes > limit:
        raise CourseKitError(
            f"{where}: num_nodes is {site.num_nodes}, but a job of the default partition has at most {limit} nodes."
        )


def _check_choice(where: str, key: str, value: str, choices: Iterable[str]) -> None:
    if value not in choices:
        listed = ", ".join(sorted(choices)) or "those in the file, which lists none"
        raise CourseKitError(f"{where}: {key} is {value!r}, but must be one of {listed}.")


def _has_key(value: object, names: list[str]) -> bool:
    if not names:
        return True
    first, *rest = names
    if isinstance(value, Mapping):
        return first in value and _has_key(value[first], rest)
    if is_dataclass(value):
        return first in {field.name for field in fields(value)} and _has_key(getattr(value, first), rest)
    return False
