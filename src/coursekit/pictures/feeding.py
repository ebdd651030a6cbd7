"""Draw the pictures of the lab on input pipelines: which samples each rank gets, and when each stage works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.imagenet.store import STAGES, TRAIN, SlowStore, Span
from coursekit.pictures.output import COLORS, GREY, GROUND, HEIGHT_INCH, WIDTH_INCH, layout, panels, show

LIGHT = 160  # out of 255; on darker colours, numbers are white
MAX_NUM_WORDS = 12
GAP, EPOCH_GAP = 0.4, 1.0  # between batches, and between epochs, in samples


def show_order(
    pipelines: Mapping[str, Sequence[Sequence[Sequence[int]]]], num_samples: int, num_epochs: int = 1
) -> None:
    """Show which rank gets which sample in which step; a frame marks a sample that occurs more than once in an epoch.

    The row "no rank" shows the samples that reach no rank in an epoch.

    Args:
        pipelines: maps each pipeline's name to the batches of each rank; a batch is a list of sample numbers.
        num_samples: the number of samples; a sample's colour shows its place in the files.
        num_epochs: the number of epochs, all of which have the same number of batches.
    """
    counts = {name: _counts(of_ranks, num_samples, num_epochs) for name, of_ranks in pipelines.items()}
    num_rows = sum(len(pipelines[name]) + 1.2 + (one == 0).any() for name, one in counts.items())
    figure, (axes,) = panels(1, 0.3 + 0.3 * num_rows)
    row, ticks, edges = 0.0, {}, [0.0]
    for name, of_ranks in pipelines.items():
        axes.text(-0.6, -row, name, fontsize="small", fontweight="bold", va="center")
        for rank, batches in enumerate(of_ranks):
            row += 1
            ticks[-row] = f"rank {rank}"
            edges = max(edges, _draw_batches(axes, -row, batches, counts[name]), key=max)
        if (counts[name] == 0).any():
            row += 1
            ticks[-row] = "no rank"
            for start, of_epoch in zip(edges, counts[name]):
                for place, number in enumerate(np.flatnonzero(of_epoch == 0).tolist()):
                    _draw_sample(axes, (start + place, -row), number, num_samples, is_marked=False)
        row += 1.2
    if num_epochs > 1:
        for epoch, x in enumerate(edges[:-1], 1):
            axes.text(x - 0.4, 0.6 - row, f"epoch {epoch}", fontsize="small", va="top")
    axes.set(xlim=(-0.7, max(1.0, edges[-1])), ylim=((-0.1 if num_epochs > 1 else 0.8) - row, 0.7), xticks=[])
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    described = "; ".join(f"{name}: {_described(of_ranks, counts[name])}" for name, of_ranks in pipelines.items())
    gaps = f"with a gap after each batch{' and a line between epochs' if num_epochs > 1 else ''}"
    show(figure, f"Samples by rank, {gaps}. {described}.")


def _counts(of_ranks: Sequence[Sequence[Sequence[int]]], num_samples: int, num_epochs: int) -> Any:
    """Return how often each sample occurs in each epoch on all ranks together: shape (num_epochs, num_samples)."""
    counts = np.zeros((num_epochs, num_samples), int)
    for batches in of_ranks:
        for step, batch in enumerate(batches):
            np.add.at(counts[step * num_epochs // len(batches)], np.asarray(batch, int), 1)
    return counts


def _draw_batches(axes: Any, y: float, batches: Sequence[Sequence[int]], counts: Any) -> list[float]:
    """Draw the samples that reach one rank; return the x positions where epochs begin and where the last epoch ends."""
    num_epochs, num_samples = counts.shape
    x, edges = 0.0, [0.0]
    for step, batch in enumerate(batches, 1):
        of_epoch = counts[(step - 1) * num_epochs // len(batches)]
        for place, number in enumerate(batch):
            _draw_sample(axes, (x + place, y), number, num_samples, is_marked=bool(of_epoch[number] > 1))
        x += len(batch) + GAP
        if step < len(batches) and step * num_epochs % len(batches) == 0:
            axes.plot([x - 0.5 + (EPOCH_GAP - GAP) / 2] * 2, [y - 0.5, y + 0.5], color=GREY, linestyle=":")
            x += EPOCH_GAP
            edges.append(x)
    return [*edges, x]


def _draw_sample(axes: Any, place: tuple[float, float], number: int, num_samples: int, *, is_marked: bool) -> None:
    grey = 255 - round(200 * (number + 1) / num_samples)
    edge = {"edgecolor": COLORS[1], "linewidth": 2} if is_marked else {"edgecolor": GREY}
    box = {"boxstyle": "square,pad=0.25", "facecolor": f"#{grey:02x}{grey:02x}ff", **edge}
    color = "black" if grey > LIGHT else "white"
    axes.text(*place, f"{number:2d}", color=color, bbox=box, ha="center", va="center", fontsize=7, family="monospace")


def _described(of_ranks: Sequence[Sequence[Sequence[int]]], counts: Any) -> str:
    numbers = [[number for batch in batches for number in batch] for batches in of_ranks]
    described = [f"rank {rank} gets {_listed(mine)}" for rank, mine in enumerate(numbers)]
    for epoch, of_epoch in enumerate(counts, 1):
        for words, found in (("more than once", of_epoch > 1), ("on no rank", of_epoch == 0)):
            if found.any():
                described.append(f"in epoch {epoch} {words}: {_listed(np.flatnonzero(found))}")
    return ", ".join(described)


def _listed(numbers: Sequence[int] | Any) -> str:
    return f"{' '.join(map(str, numbers[:MAX_NUM_WORDS]))}{' …' if len(numbers) > MAX_NUM_WORDS else ''}"


def show_timeline(stores: Mapping[str, SlowStore]) -> None:
    """Show when each pipeline's stages worked; `stores` maps a name to a store that was used for one training run."""
    figure, all_axes = panels(len(stores), HEIGHT_INCH * 0.8)
    words = []
    slowest_s = max(store.seconds for store in stores.values())
    for axes, (name, store) in zip(all_axes, stores.items()):
        for row, stage in enumerate(STAGES):
            lanes = _lanes([span for span in store.spans if span.stage == stage])
            for lane, spans in enumerate(lanes):
                bars = [(span.begin_s, span.end_s - span.begin_s) for span in spans]
                place = (-row + 0.4 - 0.8 * (lane + 1) / len(lanes), 0.8 / len(lanes))
                axes.broken_barh(bars, place, facecolor=COLORS[row], edgecolor="white", linewidth=0.7)
        stretch = slowest_s / store.seconds
        wide = f", each drawn {stretch:.1f} times as wide" if stretch > 1 else ""
        axes.set(xlabel=f"seconds{wide}", xlim=(0, store.seconds), title=f"{name}: {store.seconds:.2f} s")
        axes.set_yticks([-row for row in range(len(STAGES))], STAGES)
        busy = {stage: sum(s.end_s - s.begin_s for s in store.spans if s.stage == stage) for stage in STAGES}
        shares = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in busy.items())
        axes.set_label(f"{name} takes {store.seconds:.2f} s, in which its stages work: {shares}.")
        words.append(f"{busy[TRAIN] / store.seconds:.0%}")
    names = " and ".join(f"{name} {share}" for name, share in zip(stores, words))
    show(figure, f"When records are read, decoded and used. Training works for this part of the time: {names}.")


def _lanes(spans: Sequence[Span]) -> list[list[Span]]:
    """Divide spans into as few lanes as possible, so that the spans in each lane do not overlap."""
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
    from matplotlib.figure import Figure  # slow

    figure = Figure(figsize=(WIDTH_INCH, 1.1), layout=layout(), facecolor=GROUND)
    for axes, image, label in zip(figure.subplots(1, num_columns), images, labels):
        axes.imshow(np.asarray(image), cmap="gray_r")
        axes.set_title(str(int(label)), fontsize="small", pad=2)
        axes.set(xticks=[], yticks=[])
    show(figure, f"Synthetic digits, black on white: {', '.join(str(int(n)) for n in labels[:num_columns])}.")
