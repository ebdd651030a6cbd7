"""Draw the pictures of the lab on messages: what each rank sends, how long that takes, and what 16-bit numbers lose."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from coursekit.intervals import covered_before
from coursekit.pictures.output import COLORS, GREY, HEIGHT_INCH, MARKERS, WIDTH_INCH, Array, panels, show
from coursekit.text import counted

SMALLEST_HALF, LARGEST_HALF = 2.0**-25, 65504.0  # the range that float16 rounds neither to zero nor to infinity
NUM_BINS = 60


def show_ring(sent: Sequence[Sequence[tuple[int, float]]]) -> None:
    """Show what each rank sends in each step.

    Args:
        sent: for each rank and step, the receiver, and a number that encodes the message. Each rank r that contributes
            to chunk c adds 10**r + (c + 1)/1000, so the digits show the ranks, and the fraction shows the chunk.
    """
    num_ranks, num_steps = len(sent), max(map(len, sent))
    figure, (axes,) = panels(1, 1.0 + 0.55 * num_ranks)
    figure.set_figwidth(WIDTH_INCH)
    for rank, messages in enumerate(sent):
        for step, (target, number) in enumerate(messages):
            num_parts = sum(digit != "0" for digit in f"{np.floor(number):.0f}")
            axes.barh(
                -rank, 0.94, left=step - 0.47, height=0.8, color=COLORS[0], alpha=0.1 + 0.5 * num_parts / num_ranks
            )
            parts = "+".join(str(part) for part in _parts(number))
            text = f"chunk {_chunk(number)}: {parts}\n→ rank {target}"
            axes.text(step, -rank, text, ha="center", va="center", fontsize=7)
    axes.set(xlim=(-0.6, num_steps - 0.4), ylim=(0.45 - num_ranks, 1.1), xlabel="step")
    axes.set_title("Which chunk is sent, and whose parts are in it")
    for half, name in enumerate(("reduce-scatter", "allgather")):
        axes.text((half + 0.5) * num_steps / 2 - 0.5, 0.75, name, ha="center", va="center", fontsize="small")
    axes.axvline(num_steps / 2 - 0.5, color=GREY, linestyle=":")
    axes.set_xticks(range(num_steps))  # from 0, as in the exercise and in the messages of its checks
    axes.set_yticks([-rank for rank in range(num_ranks)], [f"rank {rank}" for rank in range(num_ranks)])
    described = "; ".join(
        f"rank {rank} sends to rank {messages[0][0]} "
        + ", ".join(f"chunk {_chunk(number)} with {' + '.join(map(str, _parts(number)))}" for _, number in messages)
        for rank, messages in enumerate(sent)
        if messages
    )
    show(figure, f"The ring step by step: {described}.")


def _parts(number: float) -> list[int]:
    """Return the ranks that have contributed to the number, each by adding its power of ten."""
    return [rank for rank, digit in enumerate(reversed(f"{np.floor(number):.0f}")) if digit != "0"]


def _chunk(number: float) -> int:
    """Return the chunk that the number encodes in its thousandths, which every contributing rank has added once."""
    thousandths = round(1000 * (number % 1))
    return thousandths // max(1, len(_parts(number))) - 1


def show_sent(num_arrays: Mapping[str, Sequence[float]]) -> None:
    """Show how much each rank has sent with each algorithm, in units of the size of the array."""
    figure, all_axes = panels(len(num_arrays), HEIGHT_INCH * 0.7)
    most = max(max(arrays) for arrays in num_arrays.values())
    for number, (axes, (name, arrays)) in enumerate(zip(all_axes, num_arrays.items())):
        bars = axes.bar(range(len(arrays)), arrays, color=COLORS[number])
        axes.bar_label(bars, fmt="%.2g", padding=2)
        axes.set(xlabel="rank", ylabel="sent, in arrays", title=name, ylim=(0, 1.15 * most))
        axes.set_xticks(range(len(arrays)))
    described = "; ".join(f"{name}: {', '.join(f'{one:.2g}' for one in arrays)}" for name, arrays in num_arrays.items())
    show(figure, f"What the ranks send, in arrays, from rank 0 on. {described}.")


def show_costs(measured: Mapping[str, tuple[Array, Array]], models: Mapping[str, Callable[[Array], Array]]) -> None:
    """Show the measured time against the number of bytes, and a line for each algorithm that has a model.

    Args:
        measured: maps each algorithm to numbers of bytes and times in seconds, both of shape (num_sizes,).
        models: maps an algorithm to a function that returns the predicted seconds for numbers of bytes.
    """
    figure, (axes,) = panels(1)
    words = []
    for number, (name, (sizes, seconds)) in enumerate(measured.items()):
        color, marker = COLORS[number], MARKERS[number]
        # Markers are hollow and differ in size, so that markers at the same place do not hide each other.
        axes.loglog(sizes, 1e3 * seconds, marker, color=color, fillstyle="none", markersize=10 - 2 * number, label=name)
        if name in models:
            axes.loglog(sizes, 1e3 * models[name](sizes), "--", color=color, label=f"{name}, model")
        words.append(f"{name} from {1e3 * seconds[0]:.2g} ms to {1e3 * seconds[-1]:.2g} ms")
    axes.set(xlabel="bytes of the array", ylabel="milliseconds", title="One allreduce")
    axes.legend(fontsize="small")
    show(figure, f"Time of an allreduce, from the smallest array to the largest: {'; '.join(words)}.")


def show_wire(timelines: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Show when tensors were on the wire, for each way of submitting them; times are in microseconds."""
    figure, all_axes = panels(len(timelines), HEIGHT_INCH * 0.8)
    longest = max(max(end for _, end in spans) - spans[0][0] for spans in timelines.values()) / 1e3
    all_axes[0].set_ylabel("tensors")
    words = []
    for number, (axes, (name, spans)) in enumerate(zip(all_axes, timelines.items())):
        first = spans[0][0]
        for row, (begin, end) in enumerate(spans):
            axes.broken_barh([((begin - first) / 1e3, (end - begin) / 1e3)], (-row, 0.9), color=COLORS[number])
        took_ms = (max(end for _, end in spans) - first) / 1e3
        axes.set(xlabel="milliseconds", yticks=[], xlim=(0, longest))
        axes.set_title(f"{name}\n{took_ms:.1f} ms", fontsize="small")
        words.append(f"{name}: {counted(len(spans), 'tensor')} in {took_ms:.1f} ms")
    show(figure, f"When tensors were on the wire. {'; '.join(words)}.")


def show_overlap(step: Sequence[tuple[str, int, float, float, float]]) -> None:
    """Show the gradients of one step: when each was ready, and when it was on the wire; times are in microseconds.

    Args:
        step: for each gradient, its name, its size in bytes, and the times when it was ready, was sent, and arrived.
    """
    rows = sorted(step, key=lambda one: one[2])
    first_us, last_us = rows[0][2], rows[-1][2]
    figure, (axes,) = panels(1, HEIGHT_INCH)
    for row, (*_, num_bytes, ready_us, sent_us, done_us) in enumerate(rows):
        ready_ms, sent_ms, done_ms = ((time_us - first_us) / 1e3 for time_us in (ready_us, sent_us, done_us))
        axes.broken_barh([(ready_ms, sent_ms - ready_ms)], (-row - 0.4, 0.8), color="0.85")
        axes.broken_barh([(sent_ms, done_ms - sent_ms)], (-row - 0.4, 0.8), color=COLORS[1])
        axes.text(done_ms, -row, f" {_in_bytes(num_bytes)}", va="center", fontsize="small")
    axes.axvline((last_us - first_us) / 1e3, color=COLORS[0])
    axes.text((last_us - first_us) / 1e3, 0.8, " the last gradient is ready", color=COLORS[0], fontsize="small")
    axes.set(xlabel="milliseconds", ylabel="gradients", ylim=(-len(rows) + 0.4, 1.6))
    axes.set_yticks([-row for row in range(len(rows))], [_of_layer(name) for name, *_ in rows], fontsize="small")
    axes.set_title("One step (grey: waits for others, orange: on the wire)")
    axes.margins(x=0.12)
    before_us, all_us = covered_before([last_us, np.inf], [(sent_us, done_us) for *_, sent_us, done_us in rows])
    show(
        figure,
        f"The first of {counted(len(rows), 'gradient')} is ready {(last_us - first_us) / 1e3:.1f} ms before the last. "
        f"When the last is ready, {before_us / all_us:.0%} of the time on the wire is over.",
    )


def _of_layer(name: str) -> str:
    """Return the layer of a gradient, or its name if Keras has not numbered it; each layer has weights and a bias."""
    number = re.search(r"grads_(\d+)", name)
    return f"layer {int(number[1]) // 2 + 1}" if number else name


def _in_bytes(num_bytes: float) -> str:
    return f"{num_bytes / 1e3:,.0f} kB" if num_bytes >= 1e3 else f"{num_bytes:.0f} B"  # noqa: PLR2004  # bytes in a kB


def show_gradients(gradients: Array, scales: Sequence[float], lost: Sequence[float]) -> None:
    """Show how large gradients are at each scale, and the limits of float16.

    For each scale, `lost` has the share of gradients that are outside these limits.
    """
    sizes = np.abs(gradients[gradients != 0])
    figure, (axes,) = panels(1)
    bins = np.linspace(-40, 24, NUM_BINS).tolist()
    for number, (scale, share) in enumerate(zip(scales, lost)):
        label = f"times $2^{{{np.log2(scale):.0f}}}$: {share:.1%} lost"
        axes.hist(np.log2(sizes * scale), bins, histtype="step", color=COLORS[number], linewidth=1.5, label=label)
    for edge in (SMALLEST_HALF, LARGEST_HALF):
        axes.axvline(np.log2(edge), color=GREY, linestyle=":")
    axes.text(np.log2(SMALLEST_HALF), axes.get_ylim()[1], "zero ←", ha="right", va="top", fontsize="small")
    axes.text(np.log2(LARGEST_HALF), axes.get_ylim()[1], "→ infinity", ha="left", va="top", fontsize="small")
    axes.set(xlabel="size, as a power of two", ylabel="number of gradients", title="Gradients in 16 bits")
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(0, 0.9))
    described = ", ".join(
        f"scaled by 2 to the power of {np.log2(scale):.0f} {share:.1%}" for scale, share in zip(scales, lost)
    )
    show(figure, f"Sizes of {counted(sizes.size, 'gradient')}; lost in float16: {described}.")


def show_scales(scales: Mapping[str, Sequence[float]], were_finite: Sequence[bool]) -> None:
    """Show how each loss scale changes from step to step; steps with an overflow are marked."""
    figure, (axes,) = panels(1, HEIGHT_INCH * 0.8)
    for number, (name, values) in enumerate(scales.items()):
        axes.semilogy(range(len(values)), values, "-" if number else "-o", color=COLORS[number], label=name, base=2)
    overflows = [step for step, is_finite in enumerate(were_finite) if not is_finite]
    for step in overflows:
        axes.axvline(step, color=GREY, linestyle=":")
    axes.set(xlabel="step (dotted: overflow)", ylabel="loss scale", title="Dynamic loss scaling")
    axes.legend(fontsize="small")
    ends = "; ".join(f"{name} goes from {values[0]:g} to {values[-1]:g}" for name, values in scales.items())
    show(figure, f"Loss scale by step, with an overflow in the steps {', '.join(map(str, overflows))}: {ends}.")
