"""The magnitudes of gradients in a real training run, and the range of FP16."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/gradients",)
CAPTION = "Gradients of a small CNN's activations over a training run in FP32; left bar: all below."
FIRST, LAST = -45, 0
ZERO_BELOW, SUBNORMAL_BELOW = -25, -14


def shares(data):
    """Return the share of each exponent; smaller exponents are added to the first."""
    found = dict.fromkeys(range(FIRST, LAST), 0.0)
    for exponent, share in data["activations"]["by_exponent"].items():
        found[max(int(exponent), FIRST)] += share
    return found


def regions(data):
    """Return the shares that FP16 loses, keeps with fewer digits, and keeps."""
    tally = data["activations"]
    lost, subnormal = tally["lost"]["0"], tally["subnormal"]["0"]
    return lost, subnormal, 1 - lost - subnormal - tally["overflowing"]["0"]


def draw(data):
    """Draw the histogram in three regions of FP16."""
    figure, (axes,) = canvas()
    for exponent, share in shares(data).items():
        if exponent < ZERO_BELOW:
            color, hatch = COLORS[1], "xx"
        elif exponent < SUBNORMAL_BELOW:
            color, hatch = COLORS[3], "//"
        else:
            color, hatch = COLORS[0], ""
        axes.bar(exponent + 0.5, 100 * share, width=0.9, color=color, hatch=hatch, edgecolor="white")
    top = 100 * max(shares(data).values())
    for place, share, name, color in zip(
        ((FIRST + ZERO_BELOW) / 2, (ZERO_BELOW + SUBNORMAL_BELOW) / 2, (SUBNORMAL_BELOW + LAST) / 2),
        regions(data),
        ("become zero", "subnormal", "normal in FP16"),
        (COLORS[1], COLORS[3], COLORS[0]),
    ):
        axes.text(place, 1.28 * top, f"{100 * share:.1f} %", ha="center", color=color, weight="bold", fontsize=24)
        axes.text(place, 1.15 * top, name, ha="center", color="black")
    for edge in (ZERO_BELOW, SUBNORMAL_BELOW):
        axes.axvline(edge, color="black", linewidth=1.5, linestyle="--")
    axes.set(xlabel="magnitude of the gradient", ylabel="share (%)", xlim=(FIRST - 0.5, LAST), ylim=(0, 1.42 * top))
    axes.set_xticks(range(FIRST + 1, LAST + 1, 4), [f"$2^{{{power}}}$" for power in range(FIRST + 1, LAST + 1, 4)])
    axes.grid(visible=False, axis="x")
    return figure


def words(data):
    """Return the shares and the place of the peak as text."""
    lost, subnormal, normal = regions(data)
    found = shares(data)
    return (
        f"Histogram of {data['activations']['num_values']} gradients of activations by magnitude. The peak is at 2 to "
        f"the {max(found, key=found.get)}. Cast to FP16, {100 * lost:.1f} percent become zero, {100 * subnormal:.1f} "
        f"percent are subnormal, and {100 * normal:.1f} percent are normal numbers."
    )
