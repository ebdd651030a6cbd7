"""Releases of Horovod, TensorFlow and PyTorch that matter for data-parallel training."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("published/libraries",)
CAPTION = "Releases, from the pages of Horovod, TensorFlow and PyTorch."
LANES = {"Horovod": (2, COLORS[1], "s"), "TensorFlow": (1, COLORS[0], "o"), "PyTorch": (0, COLORS[2], "D")}
TODAY = 2026.9


def draw(table):
    """Draw a line for each project and a mark for each event."""
    figure, (axes,) = canvas()
    for name, (lane, color, marker) in LANES.items():
        events = [row for row in table.rows if row["project"] == name]
        end = events[-1]["year"] if name == "Horovod" else TODAY
        axes.plot([events[0]["year"], end], [lane, lane], color=color, linewidth=5, solid_capstyle="round")
        if end < TODAY:
            axes.plot([end, TODAY], [lane, lane], color=color, linewidth=2, linestyle=":")
        for number, row in enumerate(events):
            axes.plot(row["year"], lane, marker, color=color, markersize=13, markeredgecolor="white")
            side = 1 if number % 2 == 0 else -1
            axes.annotate(
                row["event"], (row["year"], lane), (0, 15 * side), textcoords="offset points",
                ha="center", va="bottom" if side > 0 else "top", fontsize=16,
            )  # fmt: skip
    axes.set_yticks([lane for lane, _, _ in LANES.values()], list(LANES))
    axes.set_xticks(range(2017, 2028))
    axes.set(xlim=(2016.4, 2027.4), ylim=(-0.6, 2.55))
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def words(table):
    """Return the events in order, as text."""
    described = [f"{row['project']}, {int(row['year'])}: {' '.join(str(row['event']).split())}" for row in table.rows]
    return ". ".join(described) + "."
