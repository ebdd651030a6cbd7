"""How much a network has to send and to compute: why some networks scale and some do not."""

from coursekit.pictures import COLORS, MARKERS
from workshop.slides.drawing import canvas

DATA = ("results/parameters-and-arithmetic",)
CAPTION = "Networks of tf.keras.applications, forward pass; dotted: equal numbers of operations per byte of gradient."

LEFT = ("DenseNet121", "InceptionV3")
GROUND = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}


def draw(counted):
    """Draw a point for each network, and lines of equal arithmetic per byte."""
    figure, (axes,) = canvas()
    for per_byte, where in ((50, 20), (100, 390), (200, 195)):
        ends = (9, 700)
        axes.plot(ends, [per_byte * end / 1000 for end in ends], ":", color="0.5", lw=1.5, zorder=0)
        axes.text(where, per_byte * where / 1000, f"{per_byte}", ha="center", va="center", fontsize=16, bbox=GROUND)
    for number, row in enumerate(counted["networks"]):
        x, y = row["gradient_mb"], row["gflop"]
        axes.plot(x, y, MARKERS[number], color=COLORS[number], ms=14)
        left = row["network"] in LEFT
        where = {"xytext": (-14 if left else 14, -1), "textcoords": "offset points", "ha": "right" if left else "left"}
        axes.annotate(row["network"], (x, y), va="center", bbox=GROUND, **where)
    axes.set(xscale="log", yscale="log", xlim=(9, 800), ylim=(0.4, 60))
    axes.set(xlabel="gradient to send, MB", ylabel="GFLOP per image")
    axes.set_xticks([10, 30, 100, 300], ["10", "30", "100", "300"])
    axes.set_yticks([1, 3, 10, 30], ["1", "3", "10", "30"])
    axes.minorticks_off()
    axes.text(11, 42, "scales well", va="center", style="italic")
    axes.text(300, 0.6, "scales badly", va="center", ha="left", style="italic")
    return figure


def words(counted):
    """Return the networks as text."""
    listed = (
        f"{row['network']} {row['gradient_mb']:.0f} MB and {row['gflop']:.1f} GFLOP, "
        f"{1000 * row['gflop'] / row['gradient_mb']:.0f} operations per byte"
        for row in counted["networks"]
    )
    return f"Gradient and forward arithmetic per image: {'; '.join(listed)}."
