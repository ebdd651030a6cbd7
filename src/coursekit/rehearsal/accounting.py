"""The accounting of a rehearsal: its cluster, its QOS with their limits, and its account in every form it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.rehearsal.shape import qos_of
from coursekit.rehearsal.slurm_files import CLUSTER_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.rehearsal.shape import Shape
    from coursekit.sites.profile import Qos


def sacctmgr_commands(shape: Shape, user: str) -> list[list[str]]:
    """Return the commands that make a fresh accounting the site's, without the word `sacctmgr`, in their order."""
    commands = [["add", "cluster", CLUSTER_NAME]]
    commands += [["add", "qos", name, *qos_limits(qos)] for name, qos in shape.site.qos.items()]
    for account, keys in shape.accounts.items():
        allowed = [name for key in keys for name in qos_of(shape.site.partitions[key])]
        commands.append(["add", "account", account, *_qos_words(allowed), "Organization=coursekit"])
        # Without a partition for jobs that leave the choice to Slurm, then one for each that has a default of its own.
        commands.append(["add", "user", user, f"Account={account}", *_qos_words(allowed)])
        for key in keys:
            partition = shape.site.partitions[key]
            if qos_of(partition)[0] != allowed[0]:
                words = _qos_words(qos_of(partition))
                commands.append(
                    ["add", "user", user, f"Account={account}", f"Partition={partition.slurm_name}", *words]
                )
    return commands


def _qos_words(allowed: Sequence[str]) -> list[str]:
    return [f"QOS={','.join(dict.fromkeys(allowed))}", f"DefaultQOS={allowed[0]}"]


def qos_limits(qos: Qos) -> list[str]:
    """Return a QOS's limits as words for sacctmgr; a job beyond them is refused, not left to wait for ever."""
    limits = {
        "MaxWall": qos.max_time_min,
        "MaxTRESPerJob": f"gres/gpu={qos.max_num_gpus}" if qos.max_num_gpus else 0,
        "MaxJobsPerUser": qos.max_num_jobs_per_user,
        "MaxSubmitJobsPerUser": qos.max_num_submitted_per_user,
    }
    return ["Flags=DenyOnLimit", *(f"{name}={limit}" for name, limit in limits.items() if limit)]
