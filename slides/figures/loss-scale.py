"""What FP16 loses of the same gradients if the loss is multiplied by a power of two."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/gradients",)
LABELS = {"zero": (0.6, 13), "subnormal": (3.6, 60), "overflow": (21.5, 66)}  # places of the curves' names
CAPTION = "Shares of all gradients, of activations and of weights, that a cast to FP16 damages."


def curves(data):
    """Return the scales and, by name, the worst share of both kinds of gradients in percent."""
    both = data["activations"], data["weights"]
    scales = [int(scale) for scale in both[0]["lost"]]

    def worst(what):
        return [100 * max(kind[what][str(scale)] for kind in both) for scale in scales]

    return scales, {"zero": worst("lost"), "subnormal": worst("subnormal"), "overflow": worst("overflowing")}


def draw(data):
    """Draw the three shares against the scale."""
    figure, (axes,) = canvas((7.0, 4.7))
    scales, found = curves(data)
    for (name, share), color, line, marker in zip(found.items(), (COLORS[1], COLORS[3], COLORS[7]), "-:-", "osX"):
        axes.plot(scales, share, color=color, linestyle=line, marker=marker)
        axes.text(*LABELS[name], name, color=color, weight="bold")
    axes.axvline(15, ymax=0.6, color="0.4", linestyle="--", linewidth=1.5)
    axes.text(14.6, 32, "Keras\nstarts here", color="0.3", ha="right")
    axes.set(xlabel="loss scale", ylabel="share (%)", ylim=(-2, 95))
    axes.set_xticks(range(0, 33, 8), [f"$2^{{{power}}}$" for power in range(0, 33, 8)])
    return figure


def words(data):
    """Return the shares at three scales as text."""
    scales, found = curves(data)
    described = [
        f"with 2 to the {scales[at]}: {', '.join(f'{name} {share[at]:.2g} percent' for name, share in found.items())}"
        for at in (0, scales.index(16), len(scales) - 1)
    ]
    return "Share of gradients that FP16 damages, " + "; ".join(described) + "."
