"""Tables of scaling that others measured, and how well they are predicted from their smaller half.

`published.toml` has the course's; a file of the same form holds whatever a user found elsewhere.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.scaling.belief import believe
from coursekit.scaling.faults import fault_of
from coursekit.scaling.table import Table  # noqa: TC001  # the strict loader evaluates annotations

if TYPE_CHECKING:
    from coursekit.scaling.belief import Belief
    from coursekit.scaling.table import Series

TABLES = Path(__file__).with_name("published.toml")


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
    return read_tables(TABLES)


def read_tables(path: Path) -> tuple[Table, ...]:
    """Read tables from a file.

    Raises:
        CourseKitError: the file, or a table of it, is not as it must be; one sentence says where and what.
    """
    shown_as = path.name if path == TABLES else str(path)
    found = toml_files.load(_File, path, shown_as).tables
    keys = [table.key for table in found]
    for table in found:
        fault = fault_of(table) if keys.count(table.key) == 1 else "more than one table has this key"
        if fault:
            raise CourseKitError(f"{shown_as} [{table.key}]: {fault}.")
        try:
            _ = [table.network(series) for series in table.series]
        except CourseKitError as error:
            hint = "What Keras does not have can be described in the table's `networks`."
            raise CourseKitError(f"{shown_as} [{table.key}]: {error} {hint}") from None
    return found


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
