"""What a site's file claims, as questions that the machine itself answers.

A question is a shell command that changes nothing, a pattern for its output, and what the file leads us to expect.
Slurm, the modules and accounting can be asked about most of a file; the file's `[[confirm]]` asks about the rest.

Example: the file says that `partitions.qgpu.max_time_min` is 2880. `scontrol show partition qgpu` prints, among other
things, `MaxTime=2-00:00:00`; the pattern finds `2-00:00:00`, which is 2880 minutes, so the claim is settled.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

from coursekit.slurm.sites.profile import Partition, Site, ToConfirm, with_pytorch

MINUTES = "_min"  # the end of the keys of times
LOADED = r"^(?:[\w.+-]+(?:/[\w.+-]+)*|No modules loaded)$"  # a line of `module -t list`
MPI = r"\b(pmix\w*|pmi2|pmi1|cray_shasta|openmpi)\b"


@dataclass(frozen=True)
class Question:
    """One claim of a site's file, and how the machine answers it.

    Attributes:
        key: the claim's key in the file, such as `partitions.qgpu.max_time_min`.
        command: a line for a login shell; its exit status does not matter.
        finds: a regular expression that is searched for in the output; each match counts as one value found on the
            machine; if the expression has a group, only the group's text is the value.
        expected: what must be among the machine's values, in the file's notation; never empty.
        partition: the key of the partition on whose nodes the command runs; '' for the login node.
        names_value: whether the machine's only value is the one to write at the key; if not, a person must decide.
    """

    key: str
    command: str
    finds: str
    expected: tuple[str, ...]
    partition: str = ""
    names_value: bool = True

    def seen(self, output: str) -> tuple[str, ...]:
        """Return the machine's values in the output of the command, in the file's notation, each once."""
        values = (match[match.re.groups] for match in re.finditer(self.finds, output, re.MULTILINE))
        return tuple(dict.fromkeys(_in_minutes(value) if self.key.endswith(MINUTES) else value for value in values))


def questions(site: Site) -> list[Question]:
    """Return all questions about a site: those of every site, then those of its `[[confirm]]`."""
    return [*_about_slurm(site), *_about_modules(site), *_about_qos(site), *_in_doubt(site)]


def about(note: ToConfirm, asked: Iterable[Question]) -> list[Question]:
    """Return the questions that settle a doubt: those about its key, or about a key within it."""
    return [one for one in asked if one.key == note.key or one.key.startswith(f"{note.key}.")]


def value_at(site: Site, key: str) -> object:
    """Return the value at a key of a site's file, such as `partitions.qgpu.max_time_min`.

    Raises:
        KeyError, AttributeError: the file has no such key.
    """
    value: object = site
    for name in key.split("."):
        value = value[name] if isinstance(value, Mapping) else attrgetter(name)(value)
    return value


def words_of(value: object) -> tuple[str, ...]:
    """Return a value of a site's file as the texts that a command may print; () for a table."""
    if isinstance(value, tuple):
        return tuple(one for one in value if isinstance(one, str))
    if isinstance(value, bool):
        return (str(value).lower(),)
    return (str(value),) if isinstance(value, (str, int)) and value != "" else ()


def _about_slurm(site: Site) -> Iterator[Question]:
    if site.launch.mpi:
        yield Question("launch.mpi", "srun --mpi=list", MPI, (site.launch.mpi,))
    for key, one in site.partitions.items():
        for name, command, finds in _of_partition(one):
            value = getattr(one, name)
            names_value = not isinstance(value, tuple)
            yield Question(f"partitions.{key}.{name}", command, finds, words_of(value), names_value=names_value)


def _of_partition(one: Partition) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of a partition that Slurm knows, each with a command and a pattern."""
    name = shlex.quote(one.slurm_name)
    yield "slurm_name", "sinfo --noheader --format=%R", r"\S+"
    yield "default_time_min", f"scontrol show partition {name}", r"DefaultTime=(\S+)"
    yield "max_time_min", f"scontrol show partition {name}", r"MaxTime=(\S+)"
    if one.max_num_nodes:
        yield "max_num_nodes", f"scontrol show partition {name}", r"MaxNodes=(\d+)"
    yield "num_cpus_per_node", f"sinfo --noheader --partition={name} --format=%c", r"\d+"
    if one.gpu_request != "none":
        yield "num_gpus_per_node", f"sinfo --noheader --partition={name} --format=%G", r"gpu:(?:[^:,(\s]+:)?(\d+)"
    if one.features:
        yield "features", f"sinfo --noheader --partition={name} --format=%f", r"[^,\s]+"


def _about_modules(site: Site) -> Iterator[Question]:
    """Yield a question for each list of modules: they are loaded as a job script loads them, and then listed."""
    torch = with_pytorch(site)
    for one, in_software, in_partition in (
        (site, "software.modules", "modules"),
        *([(torch, "software.pytorch.modules", "pytorch_modules")] if torch != site else []),
    ):
        if one.software.modules:
            yield _modules(in_software, one, one.software.modules)
        for key, partition in one.partitions.items():
            if partition.modules:
                yield _modules(f"partitions.{key}.{in_partition}", one, (*one.software.modules, *partition.modules))


def _modules(key: str, site: Site, modules: tuple[str, ...]) -> Question:
    loads = (f"module load {shlex.quote(name)}" for name in modules)
    return Question(
        key, "; ".join((*site.software.before, *loads, "module -t list")), LOADED, modules, names_value=False
    )


def _about_qos(site: Site) -> Iterator[Question]:
    columns = {
        "max_time_min": ("MaxWall", r"\S+"),
        "max_num_gpus": ("MaxTRES", r"gres/gpu=(\d+)"),
        "max_num_jobs_per_user": ("MaxJobsPU", r"\d+"),
        "max_num_submitted_per_user": ("MaxSubmitPU", r"\d+"),
    }
    for key, qos in site.qos.items():
        show = f"sacctmgr --noheader --parsable2 show qos {shlex.quote(key)} format="
        for name, (column, finds) in columns.items():
            if limit := getattr(qos, name):
                yield Question(f"qos.{key}.{name}", show + column, finds, (str(limit),))


def _in_doubt(site: Site) -> Iterator[Question]:
    for note in site.confirm:
        if note.finds:
            expected = note.expect or words_of(value_at(site, note.key))
            yield Question(note.key, note.command, note.finds, expected, note.partition, names_value=not note.expect)


def _in_minutes(time: str) -> str:
    """Convert a time, as Slurm writes it, to whole minutes; return other words unchanged.

    Example: "2-00:30:00" becomes "2910", "01:30:00" becomes "90", "30:00" becomes "30"; "UNLIMITED" does not change.
    """
    found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", time)
    if not found:
        return time
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return str((days * 24 + hours) * 60 + minutes + (seconds > 0))
