"""Tables of scaling that others measured, and how well they are predicted from their smaller half."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit import toml_files
from coursekit.scaling.belief import Case, believe
from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.step import Settings, Work

if TYPE_CHECKING:
    from coursekit.scaling.belief import Belief

TABLES = Path(__file__).with_name("published.toml")


@dataclass(frozen=True)
class Series:
    """Images per second of all ranks together, for one network and local batch; the first entry is one rank alone."""

    network: str
    batch_size: int
    num_ranks: tuple[int, ...]
    images_per_s: tuple[float, ...]
    images: str = "synthetic"

    @property
    def title(self) -> str:
        """Return "ResNet50, batch 64"."""
        return f"{self.network}, batch {self.batch_size}" + ("" if self.images == "synthetic" else f", {self.images}")


@dataclass(frozen=True)
class Table:
    """One machine that somebody measured; see `published.toml`."""

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

    @property
    def machine(self) -> Machine:
        """Its links at their published speed."""
        return Machine(self.within, self.between, self.num_ranks_per_node)

    @property
    def given(self) -> set[int]:
        """The sizes that the unknowns are fitted on: the smaller half, of which one rank alone is the input."""
        sizes = sorted({size for one in self.series for size in one.num_ranks})
        return set(sizes[1 : 1 + (len(sizes) - 1) // 2])

    def case(self, series: Series, position: int) -> Case:
        """Return one measurement as a case with its efficiency."""
        speed, num_ranks = series.images_per_s[position], series.num_ranks[position]
        work = Work(find_network(series.network), series.batch_size / series.images_per_s[0])
        settings = Settings(self.way, self.cycle_ms)
        return Case(work, num_ranks, settings, speed / num_ranks / series.images_per_s[0])


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
        if num_ranks in table.given
    ]
    return believe(table.machine, measured)


def predict(table: Table) -> list[Prediction]:
    """Predict the larger half of a table."""
    belief = belief_of(table)
    result = []
    for series in table.series:
        for position, num_ranks in enumerate(series.num_ranks):
            if num_ranks > 1 and num_ranks not in table.given:
                full_speed = num_ranks * series.images_per_s[0]
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
