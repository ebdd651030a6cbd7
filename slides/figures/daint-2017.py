"""Efficiency of Piz Daint's nodes with images made in memory and with ImageNet's files, and where the curves part."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ("published/daint-2017",)
CAPTION = "InceptionV3, 64 images per GPU. By e-bug, distributed-tensorflow-benchmarks, 2017."

STYLES = {"made": (COLORS[0], "o-", "made in memory"), "ImageNet": (COLORS[1], "s--", "from files")}


def efficiencies(published, images):
    """Return the numbers of GPUs, and the scaling efficiency on each."""
    rows = [row for row in published.rows if row["images"] == images]
    alone = rows[0]["images_per_s"]
    return [row["num_gpus"] for row in rows], [row["images_per_s"] / row["num_gpus"] / alone for row in rows]


def draw(published):
    """Draw both curves."""
    figure, (axes,) = canvas(HALF_INCH)
    for images, (color, style, label) in STYLES.items():
        gpus, shares = efficiencies(published, images)
        axes.plot(gpus, shares, style, color=color, label=label, ms=10)
        axes.text(gpus[-1], shares[-1] - 0.012, f"{shares[-1]:.0%}", ha="right", va="top")
    axes.axhline(1, color="0.4", ls="--", lw=2)
    axes.set(xscale="log", xlabel="nodes", ylabel="efficiency", ylim=(0.7, 1.03))
    axes.set_xticks(gpus, [str(number) for number in gpus])
    axes.minorticks_off()
    axes.set_yticks([0.7, 0.8, 0.9, 1], ["70 %", "80 %", "90 %", "100 %"])
    axes.legend(loc="lower left")
    return figure


def words(published):
    """Return the efficiencies as text."""
    listed = []
    for images, (_, _, label) in STYLES.items():
        pairs = zip(*efficiencies(published, images))
        listed.append(f"images {label}: " + ", ".join(f"{share:.0%} on {gpus}" for gpus, share in pairs))
    return f"Scaling efficiency by number of nodes: {'; '.join(listed)}."
