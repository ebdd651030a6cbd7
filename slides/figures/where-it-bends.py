"""The simulator next to published figures: weak scaling on the left, given the smaller size; strong on the right."""

from coursekit.pictures import COLORS, LINE_STYLES, MARKERS
from coursekit.scaling.posterior import Case
from coursekit.scaling.step import Work
from workshop.published.tables import posterior_of_table, tables
from workshop.slides.drawing import canvas

DATA = ("published/horovod-512-gpus",)
CAPTION = "Lines: the simulator, given the marks at 128 GPUs. Marks: Horovod's documentation."

NETWORKS = ("InceptionV3", "VGG16")
TABLE = "pascal-horovod"
GPUS = tuple(2**power for power in range(11))
GLOBAL_BATCH = 1024


def simulated(name, batch_size=None):
    """Return the efficiency and its band on each number of GPUs; if a global batch is given, each takes its share."""
    table = next(one for one in tables() if one.key == TABLE)
    posterior = posterior_of_table(table)
    series = next(one for one in table.series if one.network == name)
    alone = table.case(series, 0)
    image_s = alone.work.compute_s / series.batch_size
    expected = []
    for gpus in GPUS:
        images = batch_size / gpus if batch_size else series.batch_size
        work = Work(alone.work.network, images * image_s)
        expected.append(posterior.expect(Case(work, gpus, alone.settings, series="" if batch_size else alone.series)))
    return expected


def draw(published):
    """Draw efficiency and speed-up."""
    figure, (left, right) = canvas(num_panels=2)
    for number, name in enumerate(NETWORKS):
        color, line, marker = COLORS[number], LINE_STYLES[number], MARKERS[number]
        weak = simulated(name)
        left.plot(GPUS, [one.efficiency for one in weak], line, color=color, label=name)
        left.fill_between(GPUS, [one.low for one in weak], [one.high for one in weak], color=color, alpha=0.15)
        for row in published.rows:
            if row["network"] == name:
                left.plot(row["num_gpus"], row["efficiency"], marker, color=color, ms=12, mec="white")
        strong = [gpus * one.efficiency for gpus, one in zip(GPUS, simulated(name, GLOBAL_BATCH))]
        right.plot(GPUS, strong, line, color=color, label=name)
    right.plot(GPUS, GPUS, color="0.4", lw=1.5)
    right.text(36, 62, "ideal", ha="right", va="center")
    left.set(xscale="log", ylim=(0.5, 1.08), xlabel="GPUs", ylabel="efficiency", title="weak: 64 images per GPU")
    left.set_yticks([0.5, 0.75, 1], ["50 %", "75 %", "100 %"])
    right.set(xscale="log", yscale="log", ylim=(1, 400), xlabel="GPUs", ylabel="speed-up", title="strong: 1024 in all")
    right.set_yticks([1, 10, 100], ["1", "10", "100"])
    for axes in (left, right):
        axes.set_xticks([1, 4, 16, 64, 256, 1024], ["1", "4", "16", "64", "256", "1024"])
        axes.minorticks_off()
    left.legend(loc="lower left")
    return figure


def words(published):
    """Return both at 512 GPUs as text."""
    measured = {row["network"]: row["efficiency"] for row in published.rows if row["num_gpus"] == 512}
    at = GPUS.index(512)
    return "At 512 GPUs: " + "; ".join(
        f"{name}, efficiency {simulated(name)[at].efficiency:.0%} by the simulator and {measured[name]:.0%} published, "
        f"and a speed-up of {512 * simulated(name, GLOBAL_BATCH)[at].efficiency:.0f} with a global batch of 1024"
        for name in NETWORKS
    )
