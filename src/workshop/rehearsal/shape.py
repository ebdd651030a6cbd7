"""The shape of a rehearsal: which nodes, accounts and QOS a site's profile asks for.

Nothing here starts anything; Slurm's files and the accounting are written from the shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coursekit.slurm.sites.profile import Partition, Site, account

# The QOS that Slurm's accounting always has; partitions for which the profile names none use it.
STOCK_QOS = "normal"


@dataclass(frozen=True)
class ClusterShape:
    """The site, nodes and accounts that all files of one rehearsal share."""

    site: Site
    nodes: Mapping[str, tuple[str, ...]]  # the names of each partition's nodes, by partition key
    accounts: Mapping[str, tuple[str, ...]]  # the keys of the partitions in which an account may be used, by account

    @property
    def all_nodes(self) -> tuple[str, ...]:
        """Every node once, even if several partitions share it."""
        return tuple(dict.fromkeys(node for nodes in self.nodes.values() for node in nodes))

    @property
    def default_account(self) -> str:
        """The account to which committed job scripts are charged, which is the default partition's."""
        return account(self.site, self.site.partition())

    def owner(self, node: str) -> Partition:
        """Return the partition that describes a node's hardware."""
        return next(self.site.partitions[key] for key, nodes in self.nodes.items() if node in nodes)


def shape_of(site: Site, num_nodes: int) -> ClusterShape:
    """Return a site's shape with this many nodes of each kind."""
    nodes = {key: node_names(one.shares_nodes_with or key, num_nodes) for key, one in site.partitions.items()}
    accounts: dict[str, tuple[str, ...]] = {}
    for key, partition in site.partitions.items():
        name = account(site, partition)
        accounts[name] = (*accounts.get(name, ()), key)
    # The default partition first: Slurm tries partitions in this order.
    order = sorted(site.partitions, key=lambda key: key != site.default_partition)
    return ClusterShape(site, {key: nodes[key] for key in order}, accounts)


def node_names(key: str, num_nodes: int) -> tuple[str, ...]:
    """Return node names that Slurm and the network accept: letters, digits and hyphens."""
    stem = "".join(letter if letter.isalnum() else "-" for letter in key.lower())
    return tuple(f"{stem}-{number}" for number in range(1, num_nodes + 1))


def qos_of(partition: Partition) -> tuple[str, ...]:
    """Return the QOS that are allowed in a partition, the default first."""
    return partition.qos or (STOCK_QOS,)
