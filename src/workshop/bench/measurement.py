"""The result of a benchmark: a table, sentences below it, and the single times if it compares ways."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SHORT_S = 0.1  # shorter times are shown with four digits
Progress = Callable[[str], None]  # called with what is measured next
Rows = list[tuple[str, ...]]
"""A table of words; the first row holds the headings."""


@dataclass(frozen=True)
class Series:
    """Repeated measurements of one way to do a thing."""

    name: str  # the way
    first_s: float  # seconds of the first time, which may include preparations; it is in no statistic
    seconds: tuple[float, ...]  # all later times, in the order they were taken
    # Full speed, measured in turns with this series: the median of another way, in seconds. None if this way is
    # compared with the first series of its measurement.
    full_speed_s: float | None = None
    num_ranks: int | None = None  # how many ranks each time is for; None if all series have the same number

    @property
    def median_s(self) -> float:
        """The median of the later times, in seconds."""
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Measurement:
    """The outcome of one benchmark."""

    rows: Rows
    remarks: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()  # the ways compared, the kit's own first


def compare(title: str, series: Sequence[Series]) -> Measurement:
    """Return a table of series: for each way, the median, the extremes, and the number of times.

    Each median is compared with the first way or with full speed, or divided by the number of ranks.
    """
    own = series[0]
    is_step = own.full_speed_s is not None
    last = "share of full speed" if is_step else "ratio" if own.num_ranks is None else "s per rank"
    rows: Rows = [(title, "median s", "min s", "max s", "times", last, *(["first s"] if is_step else []))]
    for one in series:
        median_s = one.median_s
        digits = 3 if is_step else 2 if median_s >= SHORT_S else 4
        times = [f"{seconds:.{digits}f}" for seconds in (median_s, min(one.seconds), max(one.seconds))]
        compared = [f"{median_s / own.median_s:.0f}"]
        if one.full_speed_s is not None:
            compared = [f"{one.full_speed_s / median_s:.0%}", f"{one.first_s:.1f}"]
        elif one.num_ranks is not None:
            compared = [f"{median_s / one.num_ranks:.3f}"]
        rows.append((one.name, *times, str(len(one.seconds)), *compared))
    return Measurement(rows, series=tuple(series))
