"""What a benchmark returns: series of seconds side by side, and one line about them."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT_S = 0.1  # what takes less is told with four digits


@dataclass(frozen=True)
class Series:
    """Repeated measurements of one way to do a thing.

    Attributes:
        name: the way.
        first_s: seconds of the first time, which may include preparations; it counts in no statistic.
        seconds: all later times, in the order they were taken.
        full_speed_s: what counts as full speed, measured in turns with this series: the median of another way,
            in seconds. None where the way is compared with the first series of its measurement.
        num_ranks: how many ranks each time is for; None where that is the same for all series.
    """

    name: str
    first_s: float
    seconds: tuple[float, ...]
    full_speed_s: float | None = None
    num_ranks: int | None = None

    @property
    def median_s(self) -> float:
        """The median of the later times, in seconds."""
        return statistics.median(self.seconds)

    @property
    def share(self) -> float | None:
        """The share of full speed that the way reaches, by medians."""
        return None if self.full_speed_s is None else self.full_speed_s / self.median_s

    @property
    def per_rank_s(self) -> float | None:
        """The share of a rank in the median, in seconds."""
        return None if self.num_ranks is None else self.median_s / self.num_ranks

    def as_json(self) -> dict[str, Any]:
        """Return the series with its statistics."""
        statistics_s = {"min_s": min(self.seconds), "median_s": self.median_s, "max_s": max(self.seconds)}
        return {**asdict(self), **statistics_s, "share": self.share, "per_rank_s": self.per_rank_s}


@dataclass(frozen=True)
class Measurement:
    """The outcome of one benchmark: what was measured, in one line, and the ways compared, the kit's own first."""

    title: str
    series: tuple[Series, ...]

    def ratios(self) -> dict[str, float]:
        """Return how many times slower each of the others is than the first, by medians."""
        own, *others = self.series
        return {other.name: other.median_s / own.median_s for other in others}

    def as_json(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        return {"title": self.title, "series": [one.as_json() for one in self.series], "ratios": self.ratios()}


class BenchmarkResult(Protocol):
    """What a benchmark returns."""

    def as_json(self) -> dict[str, Any]:
        """Return all numbers as plain data."""


class Benchmark(Protocol):
    """A function that measures; it says what it is doing through `progress`."""

    def __call__(self, repeat: int, progress: Callable[[str], None]) -> BenchmarkResult:
        """Measure each way `repeat` times or more."""
