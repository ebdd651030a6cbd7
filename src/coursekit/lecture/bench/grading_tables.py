"""The grading benchmark as tables, from its record: the same rows for the terminal and for the README."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

Rows = list[tuple[str, ...]]  # the first one holds the headings


def class_rows(measured: dict[str, Any]) -> Rows:
    """Return the ways to grade the class, with the speed of each against the last, which is nbgrader's."""
    num = measured["num_hand_ins"]
    *_, slowest = measured["ways"].values()
    memory = f"{measured['peak_memory_gb']:.1f}"
    rows: Rows = [(measured["title"], "total s", "per minute", "right verdicts", "times as fast", "GB of a slot")]
    for name, graded in measured["ways"].items():
        seconds = graded["seconds"]
        measures = (f"{seconds:.0f}", f"{60 * num / seconds:.1f}", f"{graded['num_right']} of {num}")
        rows.append((name, *measures, f"{slowest['seconds'] / seconds:.1f}", memory if len(rows) == 1 else ""))
    return rows


def slot_rows(measured: dict[str, Any]) -> Rows:
    """Return by lab what the walls cost one hand-in, by medians, and what a hang cost beyond its limit, at most."""
    walls = ("one hand-in in a warm slot", "no walls s", "bubblewrap s", "overhead s")
    rows: Rows = [(*walls, "one that hangs s", "beyond limit s")]
    for one in measured["slots"]:
        plain, walled = statistics.median(one["plain_s"]), statistics.median(one["walled_s"])
        hanging = max(one["hanging_s"])
        numbers = (plain, walled, walled - plain, hanging, hanging - one["hang_limit_s"])
        rows.append((one["lab"], *(f"{number:.2f}" for number in numbers)))
    return rows


def remarks(measured: dict[str, Any]) -> list[str]:
    """Return sentences on the class and on how it was graded."""
    kinds = ", ".join(f"{num} {kind}" for kind, num in measured["kinds"].items())
    sentences = [
        f"The class: {kinds}; with both graders a cell may take {measured['cell_limit_s']:g} s.",
        f"`coursekit grade` starts cold and has {measured['num_slots']} slots in bubblewrap.",
        "nbgrader has the kit's settings and no sandbox, and grades one hand-in after the other, as it does.",
        "A hand-in that was left without points has no right verdict.",
    ]
    if measured["slots"]:
        limit_s = measured["slots"][0]["hang_limit_s"]
        sentences.append(f"The one that hangs does so in its first answer, whose limit is {limit_s:g} s.")
    return sentences


def all_rows(measured: dict[str, Any]) -> Sequence[Rows]:
    """Return the tables that are not empty."""
    return [rows for rows in (class_rows(measured), slot_rows(measured)) if len(rows) > 1]
