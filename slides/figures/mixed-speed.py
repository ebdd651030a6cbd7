"""Images per second that NVIDIA published for ResNet-50, with and without mixed precision."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("published/mixed-precision-speed",)
CAPTION = "ResNet-50 on ImageNet, one GPU. NVIDIA, DeepLearningExamples, 2020."


def draw(table):
    """Draw two bars for each GPU."""
    figure, (axes,) = canvas((6.6, 4.5))
    for place, row in enumerate(table.rows):
        for shift, value, name, color, hatch in (
            (-0.2, row["full_images_per_s"], row["full"], COLORS[0], ""),
            (0.2, row["mixed_images_per_s"], "mixed", COLORS[1], "//"),
        ):
            axes.bar(place + shift, value, width=0.38, color=color, hatch=hatch, edgecolor="white")
            axes.text(place + shift, value + 40, f"{name}\n{value}", ha="center")
    axes.set_xticks(range(len(table.rows)), [row["gpu"] for row in table.rows])
    axes.set(ylabel="images/s", ylim=(0, 2900))
    axes.grid(visible=False, axis="x")
    return figure


def words(table):
    """Return the numbers as text."""
    rows = [
        f"{row['gpu']}: {row['full_images_per_s']} images/s in {row['full']}, {row['mixed_images_per_s']} in mixed "
        f"precision, {row['mixed_images_per_s'] / row['full_images_per_s']:.1f} times as many"
        for row in table.rows
    ]
    return "ResNet-50 on one GPU. " + "; ".join(rows) + "."
