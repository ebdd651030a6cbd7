"""A model of scaling, T(N) = computing + allreduce, next to published figures: weak scaling left, strong right."""

from coursekit.lecture.slides.drawing import canvas
from coursekit.pictures import COLORS, LINE_STYLES, MARKERS

DATA = ("results/parameters-and-arithmetic", "published/horovod-512-gpus")
CAPTION = "Lines: a model without overlap; marks: published."

NETWORKS = ("InceptionV3", "ResNet101", "VGG16")
FLOP_PER_S = 5e12  # what a GPU of 2016 achieves on convolutions
BYTES_PER_S = 25e9 / 8  # a link of 25 Gbit/s
LATENCY_S = 30e-6  # of a message between servers
GPUS_PER_SERVER, BATCH = 4, 64
GPUS = tuple(2**power for power in range(11))


def step_s(row, num_gpus, batch):
    """Return the seconds of a step: forward and backward, then a ring allreduce between the servers."""
    compute = 3 * row["gflop"] * 1e9 * batch / FLOP_PER_S
    servers = max(1, num_gpus / GPUS_PER_SERVER)
    sent = 2 * (servers - 1) / servers * row["gradient_mb"] * 1e6
    return compute + sent / BYTES_PER_S + 2 * (servers - 1) * LATENCY_S


def weak(row, num_gpus):
    """Return the efficiency with 64 images per GPU."""
    return step_s(row, 1, BATCH) / step_s(row, num_gpus, BATCH)


def strong(row, num_gpus, batch=1024):
    """Return the speed-up with 1024 images on all GPUs together."""
    return step_s(row, 1, batch) / step_s(row, num_gpus, batch / num_gpus)


def draw(counted, published):
    """Draw efficiency and speed-up."""
    figure, (left, right) = canvas(num_panels=2)
    rows = {row["network"]: row for row in counted["networks"]}
    for number, name in enumerate(NETWORKS):
        color, line, marker = COLORS[number], LINE_STYLES[number], MARKERS[number]
        left.plot(GPUS, [weak(rows[name], gpus) for gpus in GPUS], line, color=color, label=name)
        own = [row for row in published.rows if row["network"] == name]
        shift = 0.93 if name == "InceptionV3" else 1.07
        xs = [row["num_gpus"] * shift for row in own]
        left.plot(xs, [row["efficiency"] for row in own], marker, color=color, ms=12, mec="white")
        right.plot(GPUS, [strong(rows[name], gpus) for gpus in GPUS], line, color=color, label=name)
    right.plot(GPUS, GPUS, color="0.4", lw=1.5)
    right.text(36, 62, "ideal", ha="right", va="center")
    left.set(xscale="log", ylim=(0.5, 1.05), xlabel="GPUs", ylabel="efficiency", title="weak: 64 images per GPU")
    left.set_yticks([0.5, 0.75, 1], ["50 %", "75 %", "100 %"])
    right.set(xscale="log", yscale="log", ylim=(1, 200), xlabel="GPUs", ylabel="speed-up", title="strong: 1024 in all")
    right.set_yticks([1, 10, 100], ["1", "10", "100"])
    for axes in (left, right):
        axes.set_xticks([1, 4, 16, 64, 256, 1024], ["1", "4", "16", "64", "256", "1024"])
        axes.minorticks_off()
    left.legend(loc="lower left")
    return figure


def words(counted, published):
    """Give both at 512 GPUs."""
    rows = {row["network"]: row for row in counted["networks"]}
    measured = {row["network"]: row["efficiency"] for row in published.rows if row["num_gpus"] == 512}
    return "At 512 GPUs: " + "; ".join(
        f"{name}, efficiency {weak(rows[name], 512):.0%} by the model and {measured[name]:.0%} published, "
        f"and a speed-up of {strong(rows[name], 512):.0f} with a global batch of 1024"
        for name in NETWORKS
    )
