"""The accounting of a rehearsal: its cluster, its QOS with their limits, and its account in every form it has.

A job beyond a limit is refused (DenyOnLimit), not left to wait for ever.
Commands come without the word `sacctmgr`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.slurm.rehearsal.shape import qos_of
from coursekit.slurm.rehearsal.slurm_files import CLUSTER_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.slurm.rehearsal.shape import ClusterShape
    from coursekit.slurm.sites.profile import Qos


def rounds_before_slurmctld(shape: ClusterShape, user: str) -> list[list[list[str]]]:
    """Return rounds of commands for before slurmctld starts; those of one round may run at the same time."""
    qos = [["add", "qos", name, "Flags=DenyOnLimit", *_limits(qos)] for name, qos in shape.site.qos.items()]
    rounds = [[["add", "cluster", CLUSTER_NAME]], qos]
    return rounds + [[command] for account in shape.accounts for command in _account(shape, account, user)]


def round_after_slurmctld(shape: ClusterShape) -> list[list[str]]:
    """Return limits of GPUs: accounting learns from slurmctld that there are such things."""
    limits = {name: qos.max_num_gpus for name, qos in shape.site.qos.items() if qos.max_num_gpus}
    return [["modify", "qos", name, "set", f"MaxTRESPerJob=gres/gpu={limit}"] for name, limit in limits.items()]


def _account(shape: ClusterShape, account: str, user: str) -> list[list[str]]:
    kinds = [shape.site.partitions[key] for key in shape.accounts[account]]
    allowed = [name for kind in kinds for name in qos_of(kind)]
    # Without a partition for jobs that leave the choice to Slurm, then one for each that has a default of its own.
    return [
        ["add", "account", account, *_qos_words(allowed)],
        ["add", "user", user, f"Account={account}", *_qos_words(allowed)],
        *(
            ["add", "user", user, f"Account={account}", f"Partition={kind.slurm_name}", *_qos_words(qos_of(kind))]
            for kind in kinds
            if qos_of(kind)[0] != allowed[0]
        ),
    ]


def _limits(qos: Qos) -> list[str]:
    limits = {
        "MaxWall": qos.max_time_min,
        "MaxJobsPerUser": qos.max_num_jobs_per_user,
        "MaxSubmitJobsPerUser": qos.max_num_submitted_per_user,
    }
    return [f"{name}={limit}" for name, limit in limits.items() if limit]


def _qos_words(allowed: Sequence[str]) -> list[str]:
    return [f"QOS={','.join(dict.fromkeys(allowed))}", f"DefaultQOS={allowed[0]}"]
