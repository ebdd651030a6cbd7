"""Published scaling efficiency by network and number of GPUs."""

import re

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("published/horovod-512-gpus", "published/imagenet-in-an-hour", "published/climate")
CAPTION = "Weak scaling. Horovod's documentation; ResNet-50: Goyal et al. 2017; the last two: Kurth et al. 2018."

HATCHES = {128: "", 512: "//", 256: "..", 5300: "xx", 27360: "\\\\"}
SHADES = dict(zip(HATCHES, COLORS))


def _bars(horovod, goyal, climate):
    rows = sorted(horovod.rows, key=lambda row: (row["network"], row["num_gpus"]))
    return [*rows, *goyal.rows, *climate.rows]


def _in_two_lines(name):
    """Return a name in two lines, such as "Inception" above "V3", so that six names fit side by side."""
    return re.sub(r"(Inception|ResNet|VGG|DeepLab|Tira)(?=.)", r"\1\n", name).replace("Tira\n", "Tira-\n")


def draw(horovod, goyal, climate):
    """Draw a bar for each published figure."""
    figure, (axes,) = canvas()
    place, seen, ticks = 0.0, {}, {}
    for row in _bars(horovod, goyal, climate):
        name, gpus = row["network"], row["num_gpus"]
        place += 1.0 if name in ticks else 1.9
        axes.bar(
            place,
            row["efficiency"],
            width=0.9,
            color=SHADES[gpus],
            hatch=HATCHES[gpus],
            edgecolor="white",
            label=None if gpus in seen else f"{gpus} GPUs{' (from 8)' if gpus == 256 else ''}",
        )
        axes.text(place, row["efficiency"] + 0.02, f"{row['efficiency']:.0%}", ha="center", va="bottom", fontsize=16)
        seen[gpus] = True
        ticks.setdefault(name, []).append(place)
    axes.axhline(1, color="0.4", ls="--", lw=2)
    axes.set_xticks(
        [sum(places) / len(places) for places in ticks.values()], [_in_two_lines(name) for name in ticks], fontsize=18
    )
    axes.set(ylim=(0, 1.14), ylabel="efficiency")
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.grid(visible=False, axis="x")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def words(horovod, goyal, climate):
    """Return the figures as text."""
    listed = (
        f"{row['network']} on {row['num_gpus']} GPUs {row['efficiency']:.0%}" for row in _bars(horovod, goyal, climate)
    )
    return f"Scaling efficiencies: {', '.join(listed)}."
