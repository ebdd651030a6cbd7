"""What a rank really holds of a network with PyTorch's DDP, ZeRO-1 and FSDP2: bytes counted, and the formula."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/pytorch",)
CAPTION = "Counted after a step with Adam in FP32, per parameter; the black mark is the formula."
HATCHES = ("", "//", "..")
PARTS = {"weights": 4, "gradients": 4, "optimiser": 8}  # bytes of a whole parameter
WHOLE = {"DDP": ("weights", "gradients", "optimiser"), "ZeRO-1": ("weights", "gradients"), "FSDP": ()}


def formula(way, num_ranks):
    """Return the bytes per parameter, such as 4 + 4 + 8 / N for ZeRO-1."""
    return sum(size if part in WHOLE[way] else size / num_ranks for part, size in PARTS.items())


def draw(data):
    """Draw a bar of three parts for each way, in a panel for each number of ranks."""
    figure, panels = canvas(num_panels=len(data["held_by_ranks"]))
    for axes, (num_ranks, ways) in zip(panels, data["held_by_ranks"].items()):
        for row, (way, held) in enumerate(ways.items()):
            start = 0
            for part, color, hatch in zip(PARTS, COLORS, HATCHES):
                size = held[part] / data["num_parameters"]
                axes.barh(-row, size, left=start, height=0.55, color=color, hatch=hatch, ec="white")
                start += size
            axes.plot([formula(way, int(num_ranks))] * 2, [-row - 0.38, -row + 0.38], color="black", lw=3)
            axes.text(start + 0.4, -row, f"{start:.3g}", va="center")
        axes.set_yticks([-row for row in range(len(ways))], list(ways))
        axes.set(xlabel=f"bytes per parameter, {num_ranks} ranks", xlim=(0, 19), ylim=(-3.3, 0.6))
        axes.grid(visible=False, axis="y")
        for number, (part, color, hatch) in enumerate(zip(PARTS, COLORS, HATCHES)):
            axes.barh(-3, 0.9, left=6.4 * number, height=0.35, color=color, hatch=hatch, ec="white")
            axes.text(6.4 * number + 1.2, -3, part, va="center", fontsize=15)
    return figure


def words(data):
    """Return the counted bytes as text."""
    described = [
        f"{way} on {num_ranks} ranks {sum(held.values()) / data['num_parameters']:.3g}"
        for num_ranks, ways in data["held_by_ranks"].items()
        for way, held in ways.items()
    ]
    return f"Bytes per parameter on each rank: {', '.join(described)}."
