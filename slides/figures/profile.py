"""One step in TensorFlow's profile: a lane for the pipeline's threads, and one for each part of the step."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import COMMUNICATE, COMPUTE, FULL_INCH, INPUT, canvas, ink_on

DATA = ("results/profile",)
CAPTION = "Rank 0 of two, on CPUs. Light green: other threads make the next batch."
LANES = ("next batch", "input", "forward", "backward", "allreduce")
WIDE_ENOUGH = 0.07  # share of a step from which a bar shows its name


def draw(data):
    """Draw a lane for each part, and label long bars with what they compute."""
    figure, (axes,) = canvas(FULL_INCH)
    for begin, end in data["pipeline"]:
        axes.barh(0, end - begin, 0.7, left=begin, color=COLORS[2], alpha=0.45)
    for lane, (part, color) in ((1, ("input", INPUT)), (4, ("allreduce", COMMUNICATE))):
        for begin, end in data[part]:
            axes.barh(
                lane, end - begin, 0.7, left=begin, color=color, hatch="//" if lane > 1 else "", edgecolor="white"
            )
    for one in data["operations"]:
        begin, end = one["ms"]
        lane = 3 if one["backward"] else 2
        axes.barh(lane, end - begin, 0.7, left=begin, color=COMPUTE, edgecolor="white")
        if _ms(one) > WIDE_ENOUGH * data["step_ms"]:
            axes.text((begin + end) / 2, lane, _name(one), ha="center", va="center", fontsize=14, color=ink_on(COMPUTE))
    axes.set_yticks(range(len(LANES)), LANES)
    axes.set(xlabel="ms since the step began", xlim=(0, data["step_ms"]), ylim=(len(LANES) - 0.5, -0.5))
    axes.grid(visible=False, axis="y")
    return figure


def _name(one):
    layer = one["layer"].replace("_", " ").replace("convolution", "conv.")
    return f"{layer}:\nits {one['to']}" if one["to"] else layer


def words(data):
    """Return the long operations in order, as text."""
    long = [one for one in data["operations"] if _ms(one) > WIDE_ENOUGH * data["step_ms"]]
    listed = [f"{'backward' if one['backward'] else 'forward'} {_name(one)}, {_ms(one):.0f} ms" for one in long]
    waited_ms = sum(end - begin for begin, end in data["allreduce"])
    described = "; ".join(listed).replace("\n", " ")
    return f"A step of {data['step_ms']:.0f} ms: {described}; then {waited_ms:.0f} ms of waiting for the allreduce."


def _ms(operation):
    return operation["ms"][1] - operation["ms"][0]
