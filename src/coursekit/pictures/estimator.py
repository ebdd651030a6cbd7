"""The pictures of lab 04: a run with its evaluation, what training mode does to an evaluation, two ways compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.pictures import COLORS, MARKERS, Array, panels, show, style
from coursekit.text import counted

SMALLEST_GAP = 1e-8  # smaller ones are drawn as this


def show_run(results: Sequence[Mapping[str, Any]], name: str) -> None:
    """Show the losses of all ranks' steps, their mean, and the accuracy on held-out images of a network.

    The results of each rank hold `losses`, and on rank 0 at least `accuracy`.
    """
    accuracy = float(results[0]["accuracy"])
    losses = np.array([result["losses"] for result in results])
    if losses.size == 0:
        print(f"nothing was left to train; accuracy on held-out images {accuracy:.0%}")
        return
    figure, (left, right) = panels(2)
    steps = np.arange(1, losses.shape[1] + 1)
    for rank, of_rank in enumerate(losses):
        left.plot(steps, of_rank, linewidth=0.8, label=f"rank {rank}", **style(rank))
    left.plot(steps, losses.mean(axis=0), color="black", label="mean of the ranks")
    left.set(
        xlabel="step", ylabel="loss of the batch", title=f"{name} on {counted(len(results), 'rank')}", ylim=(0, None)
    )
    left.legend(fontsize="small")
    right.bar(["held-out images"], [accuracy], width=0.4, color=COLORS[2])
    right.set(ylabel="accuracy", ylim=(0, 1), xlim=(-1, 1), title="after the last step, measured here")
    right.text(0, accuracy + 0.02, f"{accuracy:.0%}", ha="center")
    mean = losses.mean(axis=0)
    show(
        figure,
        f"{name} on {counted(len(results), 'rank')}: the loss falls from {mean[0]:.2f} to {mean[-1]:.2f} in "
        f"{counted(len(steps), 'step')}; "
        f"the accuracy on held-out images is {accuracy:.0%}.",
    )
    print(f"{counted(len(steps), 'step')} on each rank, accuracy on held-out images {accuracy:.0%}")


def show_modes(accuracies: Mapping[tuple[bool, int], float]) -> None:
    """Show accuracies by (training mode, size of the batches)."""
    figure, (axes,) = panels(1)
    texts = []
    for number, training in enumerate((False, True)):
        points = {size: value for (mode, size), value in accuracies.items() if mode == training}
        label = f"{'training' if training else 'evaluation'} mode"
        axes.plot(range(len(points)), list(points.values()), marker=MARKERS[number], label=label, **style(number))
        axes.set_xticks(range(len(points)), [str(size) for size in points])
        texts.append(f"{label} {', '.join(f'{value:.0%}' for value in points.values())}")
    title = f"{max(size for _, size in accuracies)} of the held-out images, the same weights"
    axes.set(xlabel="images in a batch", ylabel="accuracy", ylim=(0, 1), title=title)
    axes.legend(fontsize="small")
    sizes = sorted({size for _, size in accuracies})
    show(figure, f"Accuracy in batches of {', '.join(map(str, sizes))} images: {'; '.join(texts)}.")
    print("; ".join(texts))


def show_same(by_horovod: Array, by_strategy: Array) -> None:
    """Show the losses of the same training with Horovod and with a strategy, and how far they are apart."""
    figure, (left, right) = panels(2)
    steps = np.arange(1, len(by_horovod) + 1)
    for number, (label, losses) in enumerate((("Estimator, Horovod", by_horovod), ("Keras, strategy", by_strategy))):
        left.plot(steps, losses, marker=MARKERS[number], label=label, **style(number))
    left.set(xlabel="step", ylabel="loss, mean of the workers", title="Two libraries")
    left.legend(fontsize="small")
    gaps = np.abs(np.asarray(by_horovod) - np.asarray(by_strategy))
    right.plot(steps, np.maximum(gaps, SMALLEST_GAP), color="black", marker="o")
    right.set(xlabel="step", ylabel="difference of the losses", yscale="log", ylim=(SMALLEST_GAP / 2, 10))
    right.set_title(f"How far apart (drawn at {SMALLEST_GAP:.0e} where it is less)", fontsize="medium")
    show(
        figure,
        f"The losses of {len(steps)} steps with Horovod and with a strategy fall from {by_horovod[0]:.3f} to "
        f"{by_horovod[-1]:.3f} and differ by at most {gaps.max():.1g}.",
    )
    print(f"largest difference of the losses {gaps.max():.1g}")
