"""Published times to train ResNet-50 on ImageNet, with a line of equal GPU hours."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ("published/imagenet-in-an-hour", "published/imagenet-in-minutes")
CAPTION = "ResNet-50, 90 epochs. Goyal et al. and Akiba et al., 2017."


def draw(hour, minutes):
    """Draw both published times."""
    figure, (axes,) = canvas(HALF_INCH)
    first, second = hour.rows[0], minutes.rows[0]
    product = first["num_gpus"] * first["minutes"]
    gpus = (150, 1800)
    axes.plot(gpus, [product / number for number in gpus], "--", color="0.4")
    axes.text(430, 42, "equal\nGPU hours", ha="left", va="bottom", fontsize=16)
    for row, marker, color in ((first, "o", COLORS[0]), (second, "s", COLORS[1])):
        axes.plot(row["num_gpus"], row["minutes"], marker, color=color, ms=15)
        axes.annotate(
            f"{row['num_gpus']} GPUs,\n{row['minutes']} min",
            (row["num_gpus"], row["minutes"]),
            xytext=(-12, -8),
            textcoords="offset points",
            ha="right",
            va="top",
        )
    axes.set(xscale="log", yscale="log", xlim=(95, 2000), ylim=(7, 110), xlabel="GPUs", ylabel="minutes")
    axes.set_xticks([128, 256, 512, 1024], ["128", "256", "512", "1024"])
    axes.set_yticks([10, 20, 40, 80], ["10", "20", "40", "80"])
    axes.minorticks_off()
    return figure


def words(hour, minutes):
    """Return both times as text."""
    rows = (hour.rows[0], minutes.rows[0])
    listed = " and ".join(f"{row['minutes']} minutes on {row['num_gpus']} GPUs" for row in rows)
    return f"ResNet-50 on ImageNet took {listed}: the same GPU hours."
