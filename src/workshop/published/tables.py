"""Scaling tables that others measured (`published.toml`), each predicted from its smaller half.

In each table, the first entry of each series is known (if possible, it is for a single rank), and so are all entries at
the smaller half of the table's other sizes (`Table.given`). Every other row is predicted, and counts in the results.
The prior comes from the tables of all *other* machines (`workshop.published.priors`).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from coursekit import toml_files
from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import BYTES_PER_NUMBER, Network, find_network
from coursekit.scaling.posterior import PRIOR, Case, Posterior, Prior, posterior_of
from coursekit.scaling.step import Settings, Work
from coursekit.toml_files import MAY_BE_EMPTY

TABLES = Path(__file__).with_name("published.toml")


@dataclass(frozen=True)
class Series:
    """Images per second of all ranks together, for one network and local batch, by the number of ranks.

    The first entry gives the known speed of a rank; if possible, it was measured on a single rank.
    """

    network: str
    batch_size: int
    num_ranks: tuple[int, ...]
    images_per_s: tuple[float, ...]
    images: str = "synthetic"
    image_size: int = 0

    @property
    def base_speed(self) -> float:
        """Images per second of each rank at the smallest number of ranks."""
        return self.images_per_s[0] / self.num_ranks[0]

    def efficiency(self, position: int) -> float:
        """Return the speed of a rank as a share of `base_speed`."""
        return self.images_per_s[position] / self.num_ranks[position] / self.base_speed

    @property
    def title(self) -> str:
        """Return "ResNet50, batch 64"."""
        return f"{self.network}, batch {self.batch_size}" + ("" if self.images == "synthetic" else f", {self.images}")


@dataclass(frozen=True)
class Table:
    """A published table of measurements on one machine; see `published.toml`."""

    key: str  # a short name for files and columns
    title: str  # what the machine is
    source: str  # who measured the speeds
    links_source: str  # who says how fast the links are
    num_ranks_per_node: int  # ranks, and GPUs, of a full node
    within: Link  # the link from a GPU to the other GPUs of its node
    between: Link  # the link from a node to the other nodes
    series: tuple[Series, ...]  # the speeds
    way: str = "fastest"  # how gradients are reduced, one of `machine.WAYS`
    cycle_ms: float = 1.0  # the time between two checks for gradients that are ready; 0 for continuous checks
    bytes_per_number: int = BYTES_PER_NUMBER  # 2 for gradients that are sent in 16 bits
    networks: Annotated[tuple[Network, ...], MAY_BE_EMPTY] = ()  # networks that `tf.keras.applications` does not have
    site: str = ""  # the machine's name, if it has several tables; '' if it has only this one
    later: bool = False  # whether the table was added to test a model that was developed without it
    job: str = "convolutions, 32 bits"  # the kind of training, by which errors are grouped

    @property
    def machine_key(self) -> str:
        """A key that all tables of the same machine share."""
        return self.site or self.key

    @property
    def machine(self) -> Machine:
        """The machine, with its links at their published speeds."""
        return Machine(self.within, self.between, self.num_ranks_per_node)

    @property
    def within_node(self) -> set[int]:
        """The sizes within one node, which show nothing about the links between nodes."""
        return {size for one in self.series for size in one.num_ranks if self.machine.num_nodes(size) == 1}

    @property
    def up_to_next(self) -> set[int]:
        """The sizes within a node, and the first one beyond it."""
        within, sizes = self.within_node, {size for one in self.series for size in one.num_ranks}
        return within | set(sorted(sizes - within)[:1])

    @property
    def given(self) -> set[int]:
        """The sizes to which the unknowns are fitted: the smaller half of all sizes, without each series' first."""
        sizes = sorted({size for one in self.series for size in one.num_ranks[1:]})
        return set(sizes[: len(sizes) // 2])

    def case(self, series: Series, position: int) -> Case:
        """Return the measurement at this position of a series as a case, with its efficiency."""
        network = self.network(series)
        settings = Settings(self.way, self.cycle_ms, bytes_per_number=self.bytes_per_number)
        base = series.num_ranks[0]
        work = Work(network, series.batch_size / series.base_speed)
        if base > 1:  # nobody measured a single rank: the prior says how much of the time a rank computes
            expected = posterior_of(self.machine).expect(Case(work, base, settings))
            work = Work(network, work.compute_s * expected.efficiency)
        return Case(work, series.num_ranks[position], settings, series.efficiency(position), base, series.title)

    def cases(self) -> list[Case]:
        """Return all measurements as cases, except the first of each series."""
        return [self.case(one, position) for one in self.series for position in range(1, len(one.num_ranks))]

    def network(self, series: Series) -> Network:
        """Return the network of a series, from this table or from `tf.keras.applications`."""
        own = [one for one in self.networks if one.name == series.network]
        return own[0] if own else find_network(series.network, series.image_size)


@dataclass(frozen=True)
class _File:
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class Prediction:
    """A measurement and its prediction, both in images per second of all ranks together."""

    table: Table
    series: Series
    num_ranks: int
    measured: float
    predicted: float
    low: float
    high: float
    naive: float

    @property
    def error(self) -> float:
        """How far the prediction is above the measurement, as a share of the measurement."""
        return self.predicted / self.measured - 1

    @property
    def naive_error(self) -> float:
        """The same for the naive prediction, that a rank keeps the last known speed of its series."""
        return self.naive / self.measured - 1

    @property
    def covered(self) -> bool:
        """Whether the band contains the measurement."""
        return self.low <= self.measured <= self.high


@dataclass(frozen=True)
class Summary:
    """A summary of predictions: absolute errors as shares, and how many measurements the band contains."""

    num_predictions: int
    mean_error: float
    worst: Prediction
    num_covered: int
    mean_naive_error: float
    worst_naive_error: float

    @property
    def covered(self) -> float:
        """The share of measurements that are in the band."""
        return self.num_covered / self.num_predictions


@cache
def tables() -> tuple[Table, ...]:
    """Return all published tables."""
    return toml_files.load(_File, TABLES, TABLES.name).tables


def posterior_of_table(table: Table, prior: Prior = PRIOR, known: AbstractSet[int] | None = None) -> Posterior:
    """Return the posterior of a table's machine, given the known sizes: by default, the table's smaller half."""
    known = table.given if known is None else known
    return posterior_of(table.machine, [one for one in table.cases() if one.num_ranks in known], prior)


def predict(table: Table, prior: Prior = PRIOR, known: AbstractSet[int] | None = None) -> list[Prediction]:
    """Predict a table at all sizes except each series' first and the known sizes: by default, its smaller half."""
    known = table.given if known is None else known
    posterior = posterior_of_table(table, prior, known)
    result = []
    for series in table.series:
        speeds = [(ranks, speed / ranks) for ranks, speed in zip(series.num_ranks, series.images_per_s)]
        last = [speed for ranks, speed in speeds[1:] if ranks in known][-1:] or [series.base_speed]
        for position, (num_ranks, speed) in enumerate(speeds):
            if position and num_ranks not in known:
                expected = posterior.expect(table.case(series, position))
                middle, low, high = (
                    num_ranks * series.base_speed * one for one in (expected.efficiency, expected.low, expected.high)
                )
                naive = num_ranks * last[0]
                result.append(Prediction(table, series, num_ranks, num_ranks * speed, middle, low, high, naive))
    return result


def summarize(predictions: Sequence[Prediction]) -> Summary:
    """Return the mean and the worst errors of predictions, and how many measurements are in their bands."""
    naive = [abs(one.naive_error) for one in predictions]
    return Summary(
        len(predictions),
        statistics.mean(abs(one.error) for one in predictions),
        max(predictions, key=lambda one: abs(one.error)),
        sum(one.covered for one in predictions),
        statistics.mean(naive),
        max(naive),
    )
