"""Draw the pictures of the lab on PyTorch: losses, speed, a trace, and the measured and predicted memory of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from coursekit.pictures.output import COLORS, MARKERS, panels, show, style
from coursekit.text import counted

KILOBYTE = 1000
PARTS = ("parameters", "gradients", "optimizer")
NAMES = {"ddp": "DDP", "zero": "ZeRO-1", "fsdp": "FSDP"}
HATCHES = ("", "..", "xx")


def show_memory(measured: Mapping[str, Sequence[Mapping[str, float]]], predicted: Mapping[str, float]) -> None:
    """Show how many kB of each part every rank holds with each kind of sharding, and a line at the predicted total."""
    figure, (axes,) = panels(1)
    labels, described, place = [], [], 0
    for kind, of_ranks in measured.items():
        for rank, held in enumerate(of_ranks):
            bottom = 0.0
            for part, color, hatch in zip(PARTS, COLORS, HATCHES):
                height = held[part] / KILOBYTE
                label = part if place == 0 else None
                axes.bar(place, height, 0.8, bottom, color=color, hatch=hatch, edgecolor="0.3", label=label)
                bottom += height
            labels.append(f"{NAMES[kind]}\nrank {rank}")
            described.append(f"{NAMES[kind]} rank {rank} {bottom:.0f} kB")
            place += 1
        line = predicted[kind] / KILOBYTE
        axes.hlines(line, place - len(of_ranks) - 0.45, place - 0.55, color="black", linestyle="--")
        described.append(f"predicted {line:.0f} kB")
    axes.set_xticks(range(place), labels, fontsize="small")
    axes.set(ylabel="kB", title="What a rank holds")
    axes.legend(fontsize="small")
    show(figure, f"What each rank holds (bars), and what was predicted (dashed lines): {', '.join(described)}.")


def show_losses(losses: Sequence[Mapping[str, float]]) -> None:
    """Show the training and validation losses by epoch; each entry holds "training", "validation" and "epoch"."""
    if not losses:
        print("nothing was left to train")
        return
    figure, (axes,) = panels(1)
    epochs, described = [int(one["epoch"]) for one in losses], []
    for number, part in enumerate(("training", "validation")):
        values = [one[part] for one in losses]
        axes.plot(epochs, values, marker=MARKERS[number], label=f"{part} samples", **style(number))
        described.append(f"on the {part} samples from {values[0]:.2f} to {values[-1]:.2f}")
    axes.set(xlabel="epoch", ylabel="loss", xticks=epochs, ylim=(0, None), title="Loss after each epoch")
    axes.legend(fontsize="small")
    show(figure, f"The loss after epochs {epochs[0]} to {epochs[-1]}: {', '.join(described)}.")


def show_speed(
    batch_sizes: Sequence[int], alone: Sequence[float], together: Sequence[tuple[float, float]], num_ranks: int
) -> None:
    """Show, for each batch size, the samples per second of a rank, and the share of a step that the exchange takes.

    For each batch size, `alone` has the seconds per step on one rank, and `together` has the seconds per step on
    `num_ranks` ranks, with and without the exchange.
    """
    figure, (left, right) = panels(2)
    places, words, ranks = np.arange(len(batch_sizes)), [], counted(num_ranks, "rank")
    of_ranks = {"1 rank": alone, ranks: [seconds for seconds, _ in together]}
    for number, (label, of_sizes) in enumerate(of_ranks.items()):
        speeds = [size / seconds / 1000 for size, seconds in zip(batch_sizes, of_sizes)]
        bars = left.bar(
            places + 0.4 * number - 0.2, speeds, 0.38, color=COLORS[number], hatch=HATCHES[number], label=label
        )
        left.bar_label(bars, [_short(speed) for speed in speeds], fontsize="small")
        words.append(f"{label} {', '.join(map(_short, speeds))} thousand samples per second each")
    left.set(ylabel="1000 samples/s per rank", yscale="log", title="Speed")
    left.margins(y=0.15)
    left.legend(fontsize="small", loc="upper left")
    shares = [max(0.0, 1 - without / exchanging) for exchanging, without in together]
    right.bar_label(right.bar(places, shares, 0.6, color=COLORS[2]), [f"{100 * share:.0f} %" for share in shares])
    right.set(ylabel="share of a step", ylim=(0, 1.1), title=f"Allreduce of {ranks}")
    right.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    for axes in (left, right):
        axes.set_xticks(places, [str(size) for size in batch_sizes])
        axes.set(xlabel="samples in a batch")
    sizes = ", ".join(map(str, batch_sizes))
    right.set_label(f"The allreduce takes {', '.join(f'{100 * share:.0f} %' for share in shares)} of a step.")
    show(figure, f"Batches of {sizes} samples: {'; '.join(words)}.")


def show_trace(spans: Sequence[tuple[str, float, float]]) -> None:
    """Show when the backward pass computes and when gradients travel; each span is (name, begin, end), in ms."""
    figure, (axes,) = panels(1, height_inch=2.2)
    names, start, described = list(dict.fromkeys(name for name, _, _ in spans)), min(begin for _, begin, _ in spans), []
    for row, name in enumerate(names):
        of_name = sorted((begin - start, end - begin) for one, begin, end in spans if one == name)
        axes.broken_barh(of_name, (row - 0.35, 0.7), facecolor=COLORS[row], edgecolor="white", linewidth=0.5)
        end = max(begin + length for begin, length in of_name)
        described.append(f"{name} {counted(len(of_name), 'span')} from {of_name[0][0]:.1f} to {end:.1f} ms")
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="ms", title="A backward pass of rank 0")
    show(figure, f"When rank 0 computes and when gradients travel: {'; '.join(described)}.")


def _short(value: float) -> str:
    """Return a number as text with three significant digits; a number of at least 100 is rounded to an integer."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004  # three digits
