"""Tables of scaling that others measured (`published.toml`), each predicted from its smaller half."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from coursekit import toml_files
from coursekit.scaling.belief import Belief, Case, believe
from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import BYTES_PER_NUMBER, Network, find_network
from coursekit.scaling.step import Settings, Work
from coursekit.toml_files import MAY_BE_EMPTY

TABLES = Path(__file__).with_name("published.toml")


@dataclass(frozen=True)
class Series:
    """Images per second of all ranks together, for one network and local batch, by the number of ranks.

    The first entry is what is known of a rank's speed: at best one rank alone.
    """

    network: str
    batch_size: int
    num_ranks: tuple[int, ...]
    images_per_s: tuple[float, ...]
    images: str = "synthetic"
    image_size: int = 0

    @property
    def base_speed(self) -> float:
        """Images per second of one rank among the fewest."""
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
    """One machine that somebody measured; see `published.toml`.

    Attributes:
        key: a short name for files and columns.
        title: what the machine is.
        source: who measured the speeds.
        links_source: who says how fast the links are.
        num_ranks_per_node: ranks, and GPUs, of a full node.
        within: the link of a GPU to the others of its node.
        between: the link of a node to the others.
        series: the speeds.
        way: how gradients are added up, one of `machine.WAYS`.
        cycle_ms: how often gradients that are ready are sent; 0 for without end.
        bytes_per_number: 2 for gradients that travel with 16 bits.
        networks: those that `tf.keras.applications` does not have.
    """

    key: str
    title: str
    source: str
    links_source: str
    num_ranks_per_node: int
    within: Link
    between: Link
    series: tuple[Series, ...]
    way: str = "fastest"
    cycle_ms: float = 1.0
    bytes_per_number: int = BYTES_PER_NUMBER
    networks: Annotated[tuple[Network, ...], MAY_BE_EMPTY] = ()

    @property
    def machine(self) -> Machine:
        """Its links at their published speed."""
        return Machine(self.within, self.between, self.num_ranks_per_node)

    @property
    def given(self) -> set[int]:
        """The sizes that the unknowns are fitted on: the smaller half, of which each series' first is the input."""
        sizes = sorted({size for one in self.series for size in one.num_ranks[1:]})
        return set(sizes[: len(sizes) // 2])

    def case(self, series: Series, position: int) -> Case:
        """Return one measurement as a case with its efficiency."""
        network = self.network(series)
        settings = Settings(self.way, self.cycle_ms, bytes_per_number=self.bytes_per_number)
        base = series.num_ranks[0]
        work = Work(network, series.batch_size / series.base_speed)
        if base > 1:  # nobody measured a rank alone: what is usual tells how much of the time it computes
            work = Work(network, work.compute_s * believe(self.machine).expect(Case(work, base, settings)).efficiency)
        return Case(work, series.num_ranks[position], settings, series.efficiency(position), base)

    def network(self, series: Series) -> Network:
        """Return what a series trains: of this table, or of `tf.keras.applications`."""
        own = [one for one in self.networks if one.name == series.network]
        return own[0] if own else find_network(series.network, series.image_size)


@dataclass(frozen=True)
class _File:
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class Prediction:
    """A measurement beside what was predicted; all in images per second of all ranks together."""

    table: Table
    series: Series
    num_ranks: int
    measured: float
    predicted: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """How far the prediction lies above the measurement, as a share of that."""
        return self.predicted / self.measured - 1

    @property
    def covered(self) -> bool:
        """Whether the band holds the measurement."""
        return self.low <= self.measured <= self.high


@dataclass(frozen=True)
class Summary:
    """What all predictions together say of the model: absolute errors as shares, and how often the band held."""

    num_predictions: int
    mean_error: float
    worst: Prediction
    covered: float


@cache
def tables() -> tuple[Table, ...]:
    """Return all published tables."""
    return toml_files.load(_File, TABLES, TABLES.name).tables


def belief_of(table: Table) -> Belief:
    """Return what is believed of a table's machine after its smaller half."""
    measured = [
        table.case(series, position)
        for series in table.series
        for position, num_ranks in enumerate(series.num_ranks)
        if position and num_ranks in table.given
    ]
    return believe(table.machine, measured)


def predict(table: Table) -> list[Prediction]:
    """Predict the larger half of a table."""
    belief = belief_of(table)
    result = []
    for series in table.series:
        for position, num_ranks in enumerate(series.num_ranks):
            if position and num_ranks not in table.given:
                full_speed = num_ranks * series.base_speed
                expected = belief.expect(table.case(series, position))
                speeds = (full_speed * one for one in (expected.efficiency, expected.low, expected.high))
                result.append(Prediction(table, series, num_ranks, series.images_per_s[position], *speeds))
    return result


@cache
def predict_all() -> tuple[Prediction, ...]:
    """Predict the larger half of all tables."""
    return tuple(prediction for table in tables() for prediction in predict(table))


def summarize(predictions: tuple[Prediction, ...]) -> Summary:
    """Return the mean and the worst error, and the share of bands that hold what was measured."""
    errors = [abs(one.error) for one in predictions]
    worst = max(predictions, key=lambda one: abs(one.error))
    covered = statistics.mean(one.covered for one in predictions)
    return Summary(len(predictions), statistics.mean(errors), worst, covered)
