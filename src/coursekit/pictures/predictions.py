"""The pictures of the lab on predictions: a link with its model, and a step that was predicted and measured."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from coursekit.pictures import COLORS, panels, show

if TYPE_CHECKING:
    from collections.abc import Sequence

MILLISECONDS = 1000
PARTS = ("computing", "sharing", "communication, predicted", "unexplained")
HATCHES = ("", "..", "xx", "//")
PHASES = ("computing", "waiting for the last rank", "on the wire")


def show_fit(sizes: Sequence[int], measured_s: Sequence[float], modelled_s: Sequence[float]) -> None:
    """Show the seconds of allreduces against their bytes, measured and by the model."""
    figure, (axes,) = panels(1)
    axes.loglog(sizes, [MILLISECONDS * one for one in measured_s], "o", color=COLORS[0], label="measured")
    axes.loglog(sizes, [MILLISECONDS * one for one in modelled_s], "--", color=COLORS[1], label="your model")
    axes.set(xlabel="bytes", ylabel="milliseconds", title="An allreduce of your ranks")
    axes.legend(fontsize="small")
    worst = max(abs(model / one - 1) for one, model in zip(measured_s, modelled_s))
    first, last = (MILLISECONDS * measured_s[at] for at in (0, -1))
    show(figure, f"Allreduces take {first:.2g} to {last:.2g} ms; the model is off by at most {worst:.0%}.")


def show_gap(predicted_s: float, parts: Sequence[float]) -> None:
    """Show a predicted step beside the measured one with its parts, which may be negative where things overlap."""
    figure, (axes,) = panels(1)
    measured_s = sum(parts)
    axes.bar(0, MILLISECONDS * predicted_s, width=0.6, color="0.8", edgecolor="0.4", label="predicted")
    bottom = 0.0
    for number, (name, seconds) in enumerate(zip(PARTS, parts)):
        height = MILLISECONDS * seconds
        axes.bar(
            1, height, bottom=bottom, width=0.6, color=COLORS[number], edgecolor="white", hatch=HATCHES[number],
            label=f"{name}: {height:.1f} ms", alpha=1 if seconds >= 0 else 0.5,
        )  # fmt: skip
        bottom += height
    top = MILLISECONDS * max(predicted_s, measured_s, sum(parts[:3]))
    for place, seconds, height in ((0, predicted_s, MILLISECONDS * predicted_s), (1, measured_s, top)):
        axes.annotate(
            f"{MILLISECONDS * seconds:.1f} ms", (place, height), xytext=(0, 4), textcoords="offset points", ha="center"
        )
    axes.set_xticks([0, 1], ["predicted", "measured"])
    axes.set(ylabel="milliseconds of a step", xlim=(-0.5, 3.2), ylim=(0, 1.15 * top))
    axes.legend(fontsize="small", loc="center right")
    told = ", ".join(f"{name} {MILLISECONDS * seconds:.1f} ms" for name, seconds in zip(PARTS, parts))
    words = f"Predicted {MILLISECONDS * predicted_s:.1f} ms for a step, measured {MILLISECONDS * measured_s:.1f} ms"
    show(figure, f"{words}: {told}.")


def show_phases(steps: Sequence[tuple[float, float, float]], allreduce_s: float) -> None:
    """Show steps as the timeline tells them, each from the end of the one before.

    Args:
        steps: seconds of computing, of waiting for the last rank, and on the wire, for each step.
        allreduce_s: the prediction for the wire.
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
        label = "" if row else "the wire, predicted"
        axes.plot([begin, begin + MILLISECONDS * allreduce_s], [row, row], color="black", linewidth=2, label=label)
    longest = MILLISECONDS * max(map(sum, steps))
    axes.set(xlabel="milliseconds since the step before", ylabel="steps", yticks=[], xlim=(0, 1.02 * longest))
    axes.invert_yaxis()
    figure.legend(*axes.get_legend_handles_labels(), fontsize="small", loc="outside upper center", ncols=2)
    medians = [MILLISECONDS * statistics.median(step[number] for step in steps) for number in range(len(PHASES))]
    told = ", ".join(f"{name} {median:.1f} ms" for name, median in zip(PHASES, medians))
    show(figure, f"Medians of {len(steps)} steps: {told}; for the wire {MILLISECONDS * allreduce_s:.1f} ms predicted.")
