"""Draw the pictures of the CNN labs: records, batches, learning rates, training runs, and accuracies in both modes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.pictures.output import COLORS, GREY, GROUND, MARKERS, WIDTH_INCH, Array, panels, show, style
from coursekit.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUM_COLUMNS = 8
SMALLEST_GAP = 1e-8  # smaller gaps are drawn at this size


def _draw_grid(axes: Iterable[Axes], images: Sequence[Array], labels: Sequence[int], color: str | None = None) -> None:
    """Draw one labelled image in each of the axes, framed in the given colour."""
    for place, image, label in zip(axes, images, labels):
        place.imshow(np.clip(image, 0, 255).astype(np.uint8))
        place.set_title(str(label), fontsize="small", pad=2)
        place.set(xticks=[], yticks=[])
        for spine in place.spines.values():
            spine.set(color=color or GREY, linewidth=3 if color else 1)


def _grid(num_rows: int) -> tuple[Any, Array]:
    from matplotlib.figure import Figure  # the only figure with several rows

    figure = Figure(figsize=(WIDTH_INCH, 0.2 + 1.2 * num_rows), layout="constrained", facecolor=GROUND)
    return figure, figure.subplots(num_rows, NUM_COLUMNS, squeeze=False)


def show_records(files: Sequence[str], num_rows: int = 2) -> None:
    """Show images from the first files; each label appears once before any label appears a second time."""
    import tensorflow as tf  # the lab imports it, too

    from coursekit import imagenet  # the same

    by_label: dict[int, list[Array]] = {}
    for file in files[:num_rows]:
        for record in imagenet.read_records(file).take(100):
            encoded, label = imagenet.parse_record(record)
            by_label.setdefault(int(label), []).append(tf.io.decode_jpeg(encoded, channels=3).numpy())
    chosen = [
        (image, label)
        for turn in range(num_rows)
        for label in sorted(by_label)
        for image in by_label[label][turn : turn + 1]
    ]
    chosen = chosen[: num_rows * NUM_COLUMNS]
    figure, axes = _grid(num_rows)
    _draw_grid(axes.ravel(), [image for image, _ in chosen], [label for _, label in chosen])
    for place in axes.ravel()[len(chosen) :]:
        place.axis("off")
    labels = ", ".join(str(label) for label in sorted({label for _, label in chosen}))
    show(figure, f"{len(chosen)} images from the files, with the labels {labels}.")


def show_batches(batches: Sequence[tuple[Array, Array]]) -> None:
    """Show one batch of each rank, framed in the rank's colour; a batch has images (pixels from -1 to 1) and labels."""
    figure, axes = _grid(len(batches))
    for rank, (images, labels) in enumerate(batches):
        _draw_grid(axes[rank], [(image + 1) * 127.5 for image in images], list(labels), COLORS[rank % 8])
        axes[rank][0].set_ylabel(f"rank {rank}")
    labels_of = [", ".join(str(label) for label in labels[:NUM_COLUMNS]) for _, labels in batches]
    rows = "; ".join(f"rank {rank} has the labels {labels}" for rank, labels in enumerate(labels_of))
    show(figure, f"The first images of {counted(len(batches), 'rank')}, one row per rank, cropped at random: {rows}.")


def show_rates(rates: Mapping[int, Sequence[float]]) -> None:
    """Show the learning rate in each step; `rates` maps the number of ranks to the learning rates."""
    figure, (axes,) = panels(1)
    for number, (num_ranks, values) in enumerate(rates.items()):
        axes.plot(values, label=counted(num_ranks, "rank"), **style(number))
    axes.set(xlabel="step", ylabel="learning rate", title="Warm-up", ylim=(0, None))
    axes.legend(fontsize="small")
    ends = ", ".join(f"{values[-1]:.3g} with {count}" for count, values in rates.items())
    starts = min(values[0] for values in rates.values())
    show(figure, f"All learning rates begin at {starts:.3g} and rise in a straight line; they end at {ends}.")


def _draw_losses(axes: Axes, losses: Iterable[Sequence[float]]) -> None:
    for rank, of_rank in enumerate(losses):
        axes.plot(np.arange(1, len(of_rank) + 1), of_rank, linewidth=0.8, label=f"rank {rank}", **style(rank))


def show_training(results: Sequence[Mapping[str, Any]], name: str) -> None:
    """Show every rank's loss by step, where epochs end, and the accuracies by epoch.

    As in the lab, each rank's result has `losses` (one per step), `history` (a list for each metric) and `validation`.
    """
    history, validation = results[0]["history"], results[0]["validation"]
    epochs = np.arange(1, len(history["loss"]) + 1)
    figure, (left, right) = panels(2)
    _draw_losses(left, [result["losses"] for result in results])
    if len(epochs) > 1:
        ends = np.arange(1, len(epochs)) * len(results[0]["losses"]) / len(epochs) + 0.5
        whole_height = left.get_xaxis_transform()
        left.vlines(ends, 0, 1, colors=GREY, linestyles=":", transform=whole_height, label="end of an epoch")
    left.set(xlabel="step of this run", ylabel="loss", title="Loss of each batch", ylim=(0, None))
    left.legend(fontsize="small")
    right.plot(epochs, history["accuracy"], color="black", marker=MARKERS[0], label="training, all ranks")
    right.plot(epochs[-1:], [validation["accuracy"]], "D", color=COLORS[2], markersize=9, label="validation, all ranks")
    title = f"{name} on {counted(len(results), 'rank')}"
    right.set(xlabel="epoch of this run", ylabel="accuracy", xticks=epochs, ylim=(0, 1), title=title)
    right.legend(fontsize="small", loc="lower right")
    show(
        figure,
        f"{title}: the loss goes from {results[0]['losses'][0]:.2f} in the first step to "
        f"{history['loss'][-1]:.2f} in epoch {epochs[-1]}; the validation accuracy is {validation['accuracy']:.0%}.",
    )


def show_run(results: Sequence[Mapping[str, Any]], name: str) -> None:
    """Show all ranks' losses by step, the mean loss, and the network's accuracy on held-out images.

    Each rank's result has `losses`; the result of rank 0 must also have `accuracy`.
    """
    accuracy = float(results[0]["accuracy"])
    title = f"{name} on {counted(len(results), 'rank')}"
    losses = np.array([result["losses"] for result in results])
    if losses.size == 0:
        print(f"nothing was left to train; accuracy on held-out images {accuracy:.0%}")
        return
    figure, (left, right) = panels(2)
    mean = losses.mean(axis=0)
    steps = counted(len(mean), "step")
    _draw_losses(left, losses)
    left.plot(np.arange(1, len(mean) + 1), mean, color="black", label="mean of the ranks")
    left.set(xlabel="step", ylabel="loss of the batch", title=title, ylim=(0, None))
    left.legend(fontsize="small")
    right.bar(["held-out images"], [accuracy], width=0.4, color=COLORS[2])
    right.set(ylabel="accuracy", ylim=(0, 1), xlim=(-1, 1), title="after the last step, measured here")
    right.text(0, accuracy + 0.02, f"{accuracy:.0%}", ha="center")
    words = f"{title}: the loss falls from {mean[0]:.2f} to {mean[-1]:.2f} in {steps}"
    show(figure, f"{words}; the accuracy on held-out images is {accuracy:.0%}.")
    print(f"{steps} on each rank, accuracy on held-out images {accuracy:.0%}")


def show_modes(accuracies: Mapping[tuple[bool, int], float]) -> None:
    """Show accuracies by mode and batch size; a key is a pair: whether the mode is training, and the batch size."""
    figure, (axes,) = panels(1)
    texts = []
    for number, training in enumerate((False, True)):
        points = {size: value for (mode, size), value in accuracies.items() if mode == training}
        label = f"{'training' if training else 'evaluation'} mode"
        axes.plot(range(len(points)), list(points.values()), marker=MARKERS[number], label=label, **style(number))
        axes.set_xticks(range(len(points)), [str(size) for size in points])
        texts.append(f"{label} {', '.join(f'{value:.0%}' for value in points.values())}")
    title = f"{max(size for _, size in accuracies)} of the held-out images, same weights"
    axes.set(xlabel="images in a batch", ylabel="accuracy", ylim=(0, 1), title=title)
    axes.legend(fontsize="small")
    sizes = sorted({size for _, size in accuracies})
    show(figure, f"Accuracy in batches of {', '.join(map(str, sizes))} images: {'; '.join(texts)}.")
    print("; ".join(texts))


def show_same(by_horovod: Array, by_strategy: Array) -> None:
    """Show the losses of the same training run with Horovod and with a strategy, and how much they differ."""
    figure, (left, right) = panels(2)
    steps = np.arange(1, len(by_horovod) + 1)
    for number, (label, losses) in enumerate((("Estimator, Horovod", by_horovod), ("Keras, strategy", by_strategy))):
        left.plot(steps, losses, marker=MARKERS[number], label=label, **style(number))
    left.set(xlabel="step", ylabel="loss, mean of the workers", title="Two libraries")
    left.legend(fontsize="small")
    gaps = np.abs(np.asarray(by_horovod) - np.asarray(by_strategy))
    right.plot(steps, np.maximum(gaps, SMALLEST_GAP), color="black", marker="o")
    right.set(xlabel="step", ylabel="difference between the losses", yscale="log", ylim=(SMALLEST_GAP / 2, 10))
    right.set_title(f"How far apart (drawn at {SMALLEST_GAP:.0e} if it is less)", fontsize="medium")
    show(
        figure,
        f"The losses of {len(steps)} steps with Horovod and with a strategy fall from {by_horovod[0]:.3f} to "
        f"{by_horovod[-1]:.3f} and differ by at most {gaps.max():.1g}.",
    )
    print(f"largest difference between the losses {gaps.max():.1g}")
