"""What is wrong or doubtful with a table of scaling: figures that nobody can predict from, units that look mistaken."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from coursekit.scaling.machine import WAYS

if TYPE_CHECKING:
    from coursekit.scaling.table import Series, Table

DOUBTFUL = 0.1  # by which figures may be off before they are doubted
ALL_OF_IT = 0.9  # of the bandwidth: no training gets more


def fault_of(table: Table) -> str:
    """Return why nothing can be made of a table, without a full stop, or ''."""
    titles = [one.title for one in table.series]
    twice = next((title for title in titles if titles.count(title) > 1), "")
    faults = [_fault_of_settings(table), *map(_fault_of_series, table.series)]
    faults += [f"{twice} is there more than once: let `images` tell the series apart"] if twice else []
    return next(filter(None, faults), "")


def _fault_of_settings(table: Table) -> str:
    if not re.fullmatch(r"[\w-]+", table.key):
        return "the key is part of a file's name: letters, digits and hyphens"
    if table.way not in WAYS:
        return f"there is no way {table.way!r}; the ways are {', '.join(WAYS)}"
    if table.bytes_per_number not in {2, 4}:
        return f"bytes_per_number must be 2 or 4, not {table.bytes_per_number}"
    if table.num_ranks_per_node < 1 or not 0 <= table.cycle_ms < math.inf:
        return "num_ranks_per_node must be at least 1, and cycle_ms at least 0"
    for name, link in (("within", table.within), ("between", table.between)):
        if not (0 < link.gbyte_per_s < math.inf and 0 <= link.latency_us < math.inf):
            return f"{name} must have a bandwidth above 0 and a latency that is not below it"
    return ""


def _fault_of_series(series: Series) -> str:
    ranks, speeds = series.num_ranks, series.images_per_s
    if len(ranks) != len(speeds):
        return f"{series.title} has {len(ranks)} numbers of ranks and {len(speeds)} speeds"
    if len(ranks) == 1:
        return f"{series.title} has one speed only: give a second number of ranks, which is to be predicted"
    if ranks[0] < 1 or any(after <= before for before, after in zip(ranks, ranks[1:])):
        return f"{series.title}: numbers of ranks must grow, from at least 1 on, and are {', '.join(map(str, ranks))}"
    if series.batch_size < 1 or not all(0 < speed < math.inf for speed in speeds):
        return f"{series.title}: batch size and speeds must be above 0"
    return ""


def doubts_about(table: Table, share: float) -> list[str]:
    """Return sentences on what makes one doubt a table's figures or units.

    Args:
        table: one that has no fault.
        share: of the links' bandwidth, as it was fitted.
    """
    said = []
    for one in table.series:
        best = max(range(1, len(one.num_ranks)), key=one.efficiency)
        if one.efficiency(best) > 1 + DOUBTFUL:
            said.append(
                f"{one.title}: {one.num_ranks[best]} ranks are {one.efficiency(best):.2f} times as fast as perfect "
                "scaling, which no model of links explains: is the first speed that of the same training?"
            )
        if max(one.images_per_s[1:]) < (1 + DOUBTFUL) * one.images_per_s[0]:
            said.append(f"{one.title}: more ranks are not faster: are these the speeds of all ranks together?")
    if not table.given:
        said.append(f"{table.key}: a single size is to be predicted, so that nothing is fitted: this is what is usual.")
    elif share > ALL_OF_IT:
        said.append(
            f"{table.key}: the known sizes ask for all of the links' bandwidth: are the links faster than given, "
            "in GB/s (8 Gbit/s) and in one direction?"
        )
    return said
