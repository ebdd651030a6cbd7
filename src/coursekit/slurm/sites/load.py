"""Find and read sites' files, and check what types cannot express: that values agree, and that no option hides GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from coursekit import toml_files
from coursekit.errors import Cause, CourseKitError
from coursekit.slurm.sites.profile import GPU_REQUESTS, STATUSES, Site, ToConfirm, srun_options
from coursekit.slurm.sites.questions import value_at, words_of

FOLDER = "slurm/sites"
HIDES_GPUS = ("--gpus-per-task", "--gpu-bind")
TUNNEL_NAMES = ("node", "port", "user")


def site_names(root: Path) -> list[str]:
    """Return the names of all sites, sorted."""
    return sorted(path.stem for path in (root / FOLDER).glob("*.toml"))


def load_site(root: Path, name: str) -> Site:
    """Read one site's file and check it.

    Raises:
        CourseKitError: there is no such site, or its file is wrong; the message names the file and the key.
    """
    names = site_names(root)
    if name not in names:
        raise CourseKitError(f"there is no site {name!r}: {FOLDER}/ has {', '.join(names) or 'none'}.", "site.unknown")
    where = f"{FOLDER}/{name}.toml"
    site = toml_files.load(Site, root / where, where, name=name)
    for fault in _faults(site):
        raise CourseKitError(f"{where}{fault.words}.", fault.code)
    return site


def load_sites(root: Path) -> list[Site]:
    """Read all sites, sorted by name; see `load_site`."""
    return [load_site(root, name) for name in site_names(root)]


def _faults(site: Site) -> Iterator[Cause]:
    """Yield the contradictions in a site: the place in its file, and what is wrong there."""
    yield from _unknown(": status", site.status, STATUSES)
    yield from _unknown(": default_partition", site.default_partition, site.partitions)
    if not site.software.shell.startswith("#!"):
        yield Cause(f" [software]: shell must begin with #!, as scripts do, not {site.software.shell!r}", "site.shell")
    yield from _wrong_options(" [launch]: srun_options", site.launch.srun_options)
    yield from _wrong_options(" [software]: container", srun_options(site.software.container))
    yield from _wrong_options(" [software.pytorch]: container", srun_options(site.software.pytorch.container))
    if not (site.jupyter.address or site.jupyter.tunnel):
        yield Cause(" [jupyter]: address or tunnel must say how a browser reaches JupyterLab", "site.no-jupyter")
    if unknown := sorted({name for name in re.findall(r"{(.*?)}", site.jupyter.tunnel) if name not in TUNNEL_NAMES}):
        allowed = ", ".join(f"{{{name}}}" for name in TUNNEL_NAMES)
        yield Cause(f" [jupyter]: tunnel uses {unknown}; allowed are {allowed}", "site.tunnel")
    for key in site.partitions:
        yield from _faults_of_partition(site, key)
    for note in site.confirm:
        yield from _faults_of_doubt(site, note)
    limit = site.partition().max_num_nodes or site.partition().num_nodes
    if limit and site.num_nodes > limit:  # the committed job scripts must fit into the default partition
        yield Cause(
            f": num_nodes is {site.num_nodes}, but a job in the default partition may have at most {limit} nodes",
            "site.nodes",
        )


def _faults_of_partition(site: Site, key: str) -> Iterator[Cause]:
    partition, here = site.partitions[key], f" [partitions.{key}]:"
    yield from _unknown(f"{here} gpu_request", partition.gpu_request, GPU_REQUESTS)
    if partition.gpu_request != "none" and not partition.has_gpus:
        yield Cause(f'{here} gpu is "none", but gpu_request is {partition.gpu_request!r}: name the GPU', "site.no-gpu")
    for name in filter(None, (*partition.qos, partition.partition_qos)):
        yield from _unknown(f"{here} qos", name, site.qos)
    yield from _wrong_options(f"{here} directives", partition.directives)
    if partition.default_time_min > partition.max_time_min:
        yield Cause(f"{here} default_time_min must not be above max_time_min", "site.time")
    num_ranks, num_cpus = partition.num_gpus_per_node, partition.num_cpus_per_gpu
    if num_ranks * num_cpus > partition.num_cpus_per_node:
        need = f"{num_ranks} ranks with {num_cpus} CPUs each need {num_ranks * num_cpus}"
        yield Cause(f"{here} {need}, but num_cpus_per_node is {partition.num_cpus_per_node}", "site.cpus")
    if partition.shares_nodes_with:
        own = [other for other, one in site.partitions.items() if not one.shares_nodes_with]
        yield from _unknown(f"{here} shares_nodes_with", partition.shares_nodes_with, own)


def _faults_of_doubt(site: Site, note: ToConfirm) -> Iterator[Cause]:
    """Yield what keeps `coursekit sites confirm` from settling a doubt."""
    here = f" [[confirm]] {note.key}:"
    try:
        value = value_at(site, note.key)
    except (KeyError, AttributeError):
        yield Cause(f"{here} key names nothing in this file", "site.doubt-key")
        return
    try:
        re.compile(note.finds)
    except re.error as error:
        yield Cause(f"{here} finds is not a regular expression ({error})", "site.doubt-pattern")
    if note.finds and not (note.expect or words_of(value)):
        yield Cause(
            f"{here} write in expect what must be found, because there is no value at the key", "site.doubt-value"
        )
    if not note.finds and (note.expect or note.partition):
        yield Cause(f"{here} expect and partition need finds, a pattern for the command's output", "site.doubt-pattern")
    if note.partition:
        yield from _unknown(f"{here} partition", note.partition, site.partitions)


def _wrong_options(place: str, options: Iterable[str]) -> Iterator[Cause]:
    """Yield the options that are not in their long form, or that hide GPUs from the ranks."""
    for option in options:
        if not option.startswith("--"):
            yield Cause(
                f"{place} has {option!r}: write the long form, which begins with two dashes", "site.short-option"
            )
        if option.startswith(HIDES_GPUS):
            yield Cause(
                f"{place} has {option!r}, which shows a rank only its own GPU; "
                "each rank pins the GPU of its local rank and must see all GPUs of its node",
                "site.hides-gpus",
            )


def _unknown(place: str, value: str, choices: Iterable[str]) -> Iterator[Cause]:
    if value not in choices:
        listed = ", ".join(sorted(choices)) or "those in the file, which lists none"
        yield Cause(f"{place} is {value!r}, but must be one of {listed}", "site.unknown-value")
