"""The pictures of the lab on input pipelines: which sample reaches which rank and step, and who waits for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.imagenet.store import STAGES, TRAIN
from coursekit.pictures import COLORS, GREY, HEIGHT_INCH, layout, panels, show
from coursekit.pictures.output import GROUND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coursekit.imagenet.store import SlowStore, Span

LIGHT = 160  # of 255: on a darker colour numbers are white
MAX_NUM_WORDS = 12
GAP = 0.4  # between batches, in samples


def show_order(pipelines: Mapping[str, Sequence[Sequence[Sequence[int]]]], num_samples: int) -> None:
    """Show which sample reaches which rank in which place.

    Args:
        pipelines: by name, for each rank its batches, each a list of sample numbers.
        num_samples: how many there are; a sample's colour says where in the files it comes from.
    """
    num_rows = sum(len(of_ranks) + 1.2 for of_ranks in pipelines.values())
    figure, (axes,) = panels(1, 0.3 + 0.3 * num_rows)
    row, longest, ticks = 0.0, 1.0, {}
    for name, of_ranks in pipelines.items():
        axes.text(-0.6, -row, name, fontsize="small", fontweight="bold", va="center")
        for rank, batches in enumerate(of_ranks):
            row += 1
            ticks[-row] = f"rank {rank}"
            # A gap after each batch.
            places = [(number, step) for step, batch in enumerate(batches) for number in batch]
            for place, (number, step) in enumerate(places):
                _draw_sample(axes, place + GAP * step, -row, number, num_samples)
            longest = max(longest, len(places) + GAP * len(batches))
        row += 1.2
    axes.set(xlim=(-0.7, longest), ylim=(0.8 - row, 0.7), xticks=[])
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    told = "; ".join(f"{name}: {_told(of_ranks)}" for name, of_ranks in pipelines.items())
    show(figure, f"Samples by rank, a gap after each batch. {told}.")


def _draw_sample(axes: Any, x: float, y: float, number: int, num_samples: int) -> None:
    grey = 255 - round(200 * (number + 1) / num_samples)
    box = {"boxstyle": "square,pad=0.25", "facecolor": f"#{grey:02x}{grey:02x}ff", "edgecolor": GREY}
    color = "black" if grey > LIGHT else "white"
    axes.text(x, y, f"{number:2d}", color=color, bbox=box, ha="center", va="center", fontsize=7, family="monospace")


def _told(of_ranks: Sequence[Sequence[Sequence[int]]]) -> str:
    numbers = [[number for batch in batches for number in batch] for batches in of_ranks]
    return ", ".join(
        f"rank {rank} gets {' '.join(map(str, mine[:MAX_NUM_WORDS]))}{' …' if len(mine) > MAX_NUM_WORDS else ''}"
        for rank, mine in enumerate(numbers)
    )


def show_timeline(stores: Mapping[str, SlowStore]) -> None:
    """Show when the stages of a pipeline worked, by name of the pipeline; each store was used for one training."""
    figure, all_axes = panels(len(stores), HEIGHT_INCH * 0.8)
    words = []
    for axes, (name, store) in zip(all_axes, stores.items()):
        for row, stage in enumerate(STAGES):
            lanes = _lanes([span for span in store.spans if span.stage == stage])
            for lane, spans in enumerate(lanes):
                bars = [(span.begin_s, span.end_s - span.begin_s) for span in spans]
                place = (-row + 0.4 - 0.8 * (lane + 1) / len(lanes), 0.8 / len(lanes))
                axes.broken_barh(bars, place, facecolor=COLORS[row], edgecolor="white", linewidth=0.7)
        axes.set(xlabel="seconds", xlim=(0, store.seconds), title=f"{name}: {store.seconds:.2f} s")
        axes.set_yticks([-row for row in range(len(STAGES))], STAGES)
        busy = {stage: sum(s.end_s - s.begin_s for s in store.spans if s.stage == stage) for stage in STAGES}
        shares = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in busy.items())
        axes.set_label(f"{name} takes {store.seconds:.2f} s for work of {shares}.")
        words.append(f"{busy[TRAIN] / store.seconds:.0%}")
    names = " and ".join(f"{name} {share}" for name, share in zip(stores, words))
    show(figure, f"When records are read, decoded and used; the training works for this part of the time: {names}.")


def _lanes(spans: Sequence[Span]) -> list[list[Span]]:
    """Return spans in as few lanes as can be, so that those of a lane do not overlap."""
    lanes: list[list[Span]] = []
    for span in sorted(spans, key=lambda one: one.begin_s):
        free = next((lane for lane in lanes if lane[-1].end_s <= span.begin_s), None)
        if free is None:
            lanes.append([span])
        else:
            free.append(span)
    return lanes


def show_digits(images: Any, labels: Sequence[int], num_columns: int = 12) -> None:
    """Show a row of digits with their labels."""
    from matplotlib.figure import Figure  # noqa: PLC0415  # as above

    figure = Figure(figsize=(8.5, 1.1), layout=layout(), facecolor=GROUND)
    for axes, image, label in zip(figure.subplots(1, num_columns), images, labels):
        axes.imshow(np.asarray(image), cmap="gray_r")
        axes.set_title(str(int(label)), fontsize="small", pad=2)
        axes.set(xticks=[], yticks=[])
    show(figure, f"Made digits, white paper and black ink: {', '.join(str(int(n)) for n in labels[:num_columns])}.")
