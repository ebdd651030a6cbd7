"""Draw the pictures of the lab on predictions: predicted and measured times of allreduces and of training steps."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from coursekit.pictures.output import COLORS, panels, show

MILLISECONDS = 1000
PARTS = ("computing", "sharing", "communication, predicted", "unexplained")
HATCHES = ("", "..", "xx", "//")
PHASES = ("computing", "waiting for the last rank", "on the wire")


def show_fit(sizes: Sequence[int], measured_s: Sequence[float], modelled_s: Sequence[float]) -> None:
    """Show the measured and the predicted times of allreduces against the number of bytes."""
    figure, (axes,) = panels(1)
    axes.loglog(sizes, [MILLISECONDS * one for one in measured_s], "o", color=COLORS[0], label="measured")
    axes.loglog(sizes, [MILLISECONDS * one for one in modelled_s], "--", color=COLORS[1], label="your model")
    axes.set(xlabel="bytes", ylabel="milliseconds", title="An allreduce of your ranks")
    axes.legend(fontsize="small")
    worst = max(abs(model / one - 1) for one, model in zip(measured_s, modelled_s))
    first, last = (MILLISECONDS * measured_s[at] for at in (0, -1))
    show(figure, f"Allreduces take {first:.2g} to {last:.2g} ms; the model is off by at most {worst:.0%}.")


def show_gap(predicted_s: float, parts: Sequence[float]) -> None:
    """Show the predicted time of a step, and the parts of the measured time.

    The bar of each part begins where the previous bar ends; the bar of a negative part goes backwards.
    """
    figure, (axes,) = panels(1)
    measured_s = sum(parts)
    seconds = [predicted_s, *parts, measured_s]
    starts = [0.0, *(sum(parts[:number]) for number in range(len(parts))), 0.0]
    colors = ["0.8", *COLORS[: len(PARTS)], "0.8"]
    names = ["predicted", *PARTS, "measured"]
    for place, (start, part, color, hatch) in enumerate(zip(starts, seconds, colors, ["", *HATCHES, ""])):
        length, begin = MILLISECONDS * part, MILLISECONDS * start
        axes.barh(place, length, left=begin, height=0.7, color=color, edgecolor="0.3", hatch=hatch)
        axes.annotate(
            f"{length:.1f}", (max(begin, begin + length), place), xytext=(4, 0), textcoords="offset points", va="center"
        )
    for place in range(1, len(PARTS)):  # join the end of each part to the beginning of the next
        end = MILLISECONDS * starts[place + 1]
        axes.plot([end, end], [place, place + 1], color="0.3", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.axvline(0, color="0.3", linewidth=0.8)
    ends = [0.0, *(MILLISECONDS * (start + part) for start, part in zip(starts, seconds))]
    room = 0.15 * (max(ends) - min(ends))  # for the numbers
    axes.set(xlabel="milliseconds of a step", xlim=(min(ends) - room * (min(ends) < 0), max(ends) + room))
    described = ", ".join(f"{name} {MILLISECONDS * seconds:.1f} ms" for name, seconds in zip(PARTS, parts))
    words = f"Predicted {MILLISECONDS * predicted_s:.1f} ms for a step, measured {MILLISECONDS * measured_s:.1f} ms"
    show(figure, f"{words}: {described}.")


def show_phases(steps: Sequence[tuple[float, float, float]], allreduce_s: float) -> None:
    """Show the phases of each step on a timeline that begins at the end of the previous step.

    Args:
        steps: for each step, the seconds spent computing, waiting for the last rank, and on the wire.
        allreduce_s: the predicted number of seconds that a step spends on the wire.
    """
    figure, (axes,) = panels(1)
    for number, name in enumerate(PHASES):
        widths = [MILLISECONDS * step[number] for step in steps]
        lefts = [MILLISECONDS * sum(step[:number]) for step in steps]
        axes.barh(
            range(len(steps)), widths, left=lefts, height=0.7, color=COLORS[number], edgecolor="white",
            hatch=HATCHES[number], label=name,
        )  # fmt: skip
    for row, step in enumerate(steps):
        begin = MILLISECONDS * (step[0] + step[1])
        label = "" if row else "on the wire, predicted"
        axes.plot([begin, begin + MILLISECONDS * allreduce_s], [row, row], color="black", linewidth=2, label=label)
    longest = MILLISECONDS * max(map(sum, steps))
    axes.set(xlabel="milliseconds since the previous step", ylabel="steps", yticks=[], xlim=(0, 1.02 * longest))
    axes.invert_yaxis()
    figure.legend(*axes.get_legend_handles_labels(), fontsize="small", loc="outside upper center", ncols=2)
    medians = [MILLISECONDS * statistics.median(step[number] for step in steps) for number in range(len(PHASES))]
    described = ", ".join(f"{name} {median:.1f} ms" for name, median in zip(PHASES, medians))
    show(
        figure,
        f"Medians of {len(steps)} steps: {described}; {MILLISECONDS * allreduce_s:.1f} ms were predicted for the wire.",
    )
