"""Three real ranks with unequal shards: their accuracies, and what four ways of averaging make of them."""

from coursekit.pictures import COLORS, MARKERS
from workshop.slides.drawing import FULL_INCH, canvas

DATA = ("results/validation-bias",)
CAPTION = "Width: images of a rank, written class by class. Area: right answers."
WAYS = {
    "plain": "mean of the\nranks' accuracies",
    "callback": "MetricAverage-\nCallback",
    "weighted": "sums by allreduce,\nthen divided",
    "serial": "one process,\nall images",
}


def draw(data):
    """Draw a bar for each rank, as wide as its shard, and next to them a mark for each way."""
    figure, (left, right) = canvas(FULL_INCH, 2)
    first = 0
    for rank, one in enumerate(data["ranks"]):
        count, accuracy = one["num_pictures"], 100 * one["accuracy"]
        left.bar(first, accuracy, width=count, align="edge", color=COLORS[rank], edgecolor="white")
        left.text(first + max(count, 140) / 2, accuracy + 1.5, f"{accuracy:.0f} %", ha="center", fontsize=18)
        turn = 90 if count < 150 else 0
        left.text(first + count / 2, 3, f"rank {rank}", ha="center", color="white", fontsize=17, rotation=turn)
        first += count
    left.set(xlabel="images", ylabel="accuracy, %", ylim=(0, 85), xlim=(0, first + 50))
    left.grid(visible=False)
    true = 100 * data["serial"]["accuracy"]
    right.axvline(true, color="0.4", linestyle="--")
    for number, name in enumerate(WAYS):
        accuracy = 100 * data[name]["accuracy"]
        wrong = abs(accuracy - true) > 0.05
        color = COLORS[6] if wrong else "black"  # no rank's colour
        right.plot([true, accuracy], [number, number], color=color, linewidth=4)
        right.plot(accuracy, number, MARKERS[1] if wrong else MARKERS[0], color=color, markersize=15)
        right.text(true + 1.2, number, f"{accuracy:.1f} %", va="center", fontsize=20, color=color, fontweight="bold")
    low = min(100 * data[name]["accuracy"] for name in WAYS)
    right.set(xlabel="accuracy, %", xlim=(min(low, true) - 2, true + 5))
    right.set_yticks(range(len(WAYS)), list(WAYS.values()))
    right.set_ylim(3.5, -0.5)
    right.grid(axis="y", visible=False)
    return figure


def words(data):
    """Return all accuracies as text."""
    ranks = ", ".join(
        f"rank {rank} has {one['num_right']} of {one['num_pictures']} right, {100 * one['accuracy']:.1f} percent"
        for rank, one in enumerate(data["ranks"])
    )
    ways = "; ".join(f"{name.replace(chr(10), ' ')}: {100 * data[way]['accuracy']:.1f} %" for way, name in WAYS.items())
    return f"{ranks}. {ways}."
