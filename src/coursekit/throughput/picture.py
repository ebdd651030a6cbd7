"""Draw the picture of a throughput measurement: speed, efficiency and communication, next to published speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from coursekit.pictures.output import COLORS, GREY, SPEED, panels, show
from coursekit.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEADROOM = 1.45  # height of an axis divided by its tallest bar; this leaves room for words
PUBLISHED_WHERE = "InceptionV3, batch 64, nodes with one P100 each, from CSCS's regression suite"


@dataclass(frozen=True)
class Row:
    """One measurement: each rank's images per second, and the share of a step spent on communication, if known."""

    num_ranks: int
    images_per_s: Sequence[float]
    communication_share: float | None = None

    @property
    def per_rank(self) -> float:
        """The mean number of images per second of one rank."""
        return sum(self.images_per_s) / self.num_ranks


class PublishedSpeed(NamedTuple):
    """A speed that others have measured, in images per second for all GPUs together."""

    num_gpus: int
    images_per_s: float
    software: str


_TF_2 = "TF 2.4, Horovod 0.21"
_TF_1 = "TF 1.11, Horovod 0.15 (2018)"
PUBLISHED_P100 = (
    PublishedSpeed(1, 214, _TF_2),
    PublishedSpeed(8, 1712, _TF_2),
    PublishedSpeed(32, 6848, _TF_2),
    PublishedSpeed(32, 4403, _TF_1),
)


def show_throughput(rows: Sequence[Row]) -> None:
    """Show the speeds measured on one and on more ranks, with their scaling efficiencies, next to published speeds."""
    from IPython.display import display  # only notebooks show pictures

    show(*draw_throughput(rows))
    best = max(rows, key=lambda row: sum(row.images_per_s))
    speed = {"num_ranks": best.num_ranks, "images_per_s": sum(best.images_per_s)}
    words = f"{speed['images_per_s']:.0f} images/s on {counted(best.num_ranks, 'rank')} together"
    display({"text/plain": words, SPEED: speed}, raw=True)  # type: ignore[no-untyped-call]


def draw_throughput(rows: Sequence[Row]) -> tuple[Figure, str]:
    """Return the figure of `show_throughput` and its text alternative."""
    figure, (left, middle, right) = panels(3, height_inch=4.0)
    words = [_draw_speed(left, rows), _draw_communication(middle, rows), _draw_published(right)]
    return figure, " ".join(words)


def _draw_speed(axes: Axes, rows: Sequence[Row]) -> str:
    """Draw one bar per measurement, labelled with its efficiency, and return a description of the panel."""
    axes.bar(range(len(rows)), [row.per_rank for row in rows], color=COLORS[0], width=0.6)
    alone = next(row for row in rows if row.num_ranks == 1)
    words = []
    for position, row in enumerate(rows):
        share = _percent(row.per_rank / alone.per_rank)
        text = _speed(row.per_rank) if row.num_ranks == 1 else f"{_speed(row.per_rank)}\n{share}"
        _write_above(axes, position, row.per_rank, text)
        scaled = "" if row.num_ranks == 1 else f", a scaling efficiency of {share}"
        words.append(f"{counted(row.num_ranks, 'rank')}: {_speed(row.per_rank)} images per second each{scaled}.")
    _label_ranks(axes, rows)
    axes.set_ylabel("images/s per rank")
    axes.set_ylim(0, HEADROOM * max(row.per_rank for row in rows))
    axes.set_title("Measured here: speed and\nscaling efficiency", fontsize="medium")
    return "Measured here, " + " ".join(words)


def _draw_communication(axes: Axes, rows: Sequence[Row]) -> str:
    """Draw the shares of a step spent on communication and on other work, and return a description of the panel."""
    known = [(row, row.communication_share) for row in rows if row.communication_share is not None]
    shares = [share for _, share in known]
    positions = range(len(known))
    axes.bar(positions, shares, color=COLORS[1], width=0.6, label="in allreduce")
    rest = [1 - share for share in shares]
    axes.bar(positions, rest, bottom=shares, color="0.85", width=0.6, hatch="//", edgecolor=GREY, label="other")
    for position, share in enumerate(shares):
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # the hatching would cross the number
        axes.text(position, share + 0.03, _percent(share), ha="center", va="bottom", fontsize="small", bbox=ground)
    _label_ranks(axes, [row for row, _ in known])
    axes.set(ylabel="share of a step", ylim=(0, HEADROOM))
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.set_title("Measured here:\nHorovod's timeline", fontsize="medium")
    axes.legend(fontsize="small", loc="upper center", ncols=2, handlelength=1.2, columnspacing=1)
    parts = [f"{_percent(share)} of a step on {counted(row.num_ranks, 'rank')} is allreduce" for row, share in known]
    return f"According to Horovod's timeline, {', '.join(parts)}; the rest is computing or waiting."


def _draw_published(axes: Axes) -> str:
    """Draw the published speeds per GPU, labelled as published, and return a description of the panel."""
    colors = {_TF_2: COLORS[2], _TF_1: COLORS[3]}
    labels = [_TF_2, "", "", _TF_1]  # one for each colour
    speeds = [one.images_per_s / one.num_gpus for one in PUBLISHED_P100]
    axes.bar(
        range(len(speeds)), speeds, color=[colors[one.software] for one in PUBLISHED_P100], width=0.6, label=labels
    )
    for position, (one, speed) in enumerate(zip(PUBLISHED_P100, speeds)):
        _write_above(axes, position, speed, f"{speed:.0f}")
        total = f"{one.images_per_s:.0f} in all" if one.num_gpus > 1 else ""
        axes.text(position, speed / 2, total, rotation=90, ha="center", va="center", fontsize="small")
    axes.set_xticks(range(len(speeds)), [str(one.num_gpus) for one in PUBLISHED_P100])
    axes.set(xlabel="P100 nodes", ylabel="images/s per GPU", ylim=(0, HEADROOM * max(speeds)))
    axes.set_title("Published, another machine:\nInceptionV3, batch 64", fontsize="medium")
    axes.legend(fontsize="x-small", loc="upper center", handlelength=1.2)
    parts = [
        f"{one.images_per_s:.0f} images per second on {counted(one.num_gpus, 'node')} ({one.software})"
        for one in PUBLISHED_P100
    ]
    return f"Published for another machine ({PUBLISHED_WHERE}): {', '.join(parts)}."


def _write_above(axes: Axes, x: float, y: float, text: str) -> None:
    axes.annotate(text, (x, y), xytext=(0, 3), textcoords="offset points", ha="center", va="bottom", fontsize="small")


def _label_ranks(axes: Axes, rows: Sequence[Row]) -> None:
    axes.set_xticks(range(len(rows)), [str(row.num_ranks) for row in rows])
    # Leave some space on both sides, so that a single bar does not fill the panel.
    axes.set(xlabel="ranks", xlim=(-0.8, max(len(rows), 1) - 0.2))


def _speed(images_per_s: float) -> str:
    return f"{images_per_s:.0f}" if images_per_s >= 100 else f"{images_per_s:.3g}"  # noqa: PLR2004  # three digits


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
