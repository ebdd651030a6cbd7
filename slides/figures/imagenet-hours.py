"""Hours to train ResNet-50 on ImageNet by number of GPUs, as published in 2017."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ("published/imagenet-hours",)
CAPTION = "ResNet-50 on ImageNet, 90 epochs. Goyal et al. and Akiba et al., 2017."


def shown(hours):
    """Return a time as text."""
    return f"{hours:g} h" if hours >= 1 else f"{60 * hours:.0f} min"


def draw(published):
    """Draw the times, and the times with ideal scaling, on logarithmic axes."""
    figure, (axes,) = canvas(HALF_INCH)
    num_gpus, hours = zip(*((row["num_gpus"], row["hours"]) for row in published.rows))
    ideal = [hours[0] * num_gpus[0] / num for num in num_gpus]
    axes.plot(num_gpus, ideal, color="0.5", linestyle=(0, (2, 3)), linewidth=2)
    axes.text(150, 0.62, "twice the GPUs,\nhalf the time", color="0.3", ha="right", va="center", fontsize=16)
    axes.plot(num_gpus, hours, "o-", color=COLORS[0], markersize=14, linewidth=3)
    for num, hour in zip(num_gpus, hours):
        axes.text(num * 1.15, hour * 1.2, shown(hour), fontsize=20, weight="bold")
    axes.set(xscale="log", yscale="log", xlim=(6, 3000), ylim=(0.15, 60), xlabel="GPUs", ylabel="training time")
    axes.minorticks_off()
    axes.set_yticks([0.25, 1, 10], ["15 min", "1 h", "10 h"])
    axes.set_xticks(num_gpus, [str(num) for num in num_gpus])
    return figure


def words(published):
    """Return the times as text."""
    times = "; ".join(f"{row['num_gpus']} GPUs, {shown(row['hours'])}" for row in published.rows)
    return f"Training times: {times}. Twice the GPUs take nearly half the time."
