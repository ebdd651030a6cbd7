"""The accounting of a rehearsal: its cluster, its QOS with their limits, and its account in every form it has.

A job beyond a limit is refused (DenyOnLimit), not left to wait for ever.
Commands come without the word `sacctmgr`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.rehearsal.shape import qos_of
from coursekit.rehearsal.slurm_files import CLUSTER_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.rehearsal.shape import Shape
    from coursekit.sites.profile import Qos


def commands_before_slurmctld(shape: Shape) -> list[list[str]]:
    """Return what must be there when slurmctld starts: the cluster, and the QOS that partitions refer to."""
    commands = [["add", "cluster", CLUSTER_NAME]]
    return commands + [["add", "qos", name, "Flags=DenyOnLimit", *_limits(qos)] for name, qos in shape.site.qos.items()]


def commands_after_slurmctld(shape: Shape, user: str) -> list[list[str]]:
    """Return the rest: limits of GPUs, which accounting learns of from slurmctld, and the accounts with their user."""
    commands = [
        ["modify", "qos", name, "set", f"MaxTRESPerJob=gres/gpu={qos.max_num_gpus}"]
        for name, qos in shape.site.qos.items()
        if qos.max_num_gpus
    ]
    for account, keys in shape.accounts.items():
        allowed = [name for key in keys for name in qos_of(shape.site.partitions[key])]
        commands.append(["add", "account", account, *_qos_words(allowed)])
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


def _limits(qos: Qos) -> list[str]:
    limits = {
        "MaxWall": qos.max_time_min,
        "MaxJobsPerUser": qos.max_num_jobs_per_user,
        "MaxSubmitJobsPerUser": qos.max_num_submitted_per_user,
    }
    return [f"{name}={limit}" for name, limit in limits.items() if limit]


def _qos_words(allowed: Sequence[str]) -> list[str]:
    return [f"QOS={','.join(dict.fromkeys(allowed))}", f"DefaultQOS={allowed[0]}"]
