"""Paths over the landscape, and losses by update, for three batch sizes; each step adds one."""

from coursekit.pictures import COLORS, LINE_STYLES
from workshop.slides.drawing import canvas, draw_landscape

DATA = ("results/sgd-trajectories",)
CAPTION = "Lab 01's line, one learning rate for all; only the first 200 updates of long paths."
NAMES = {1000: "all samples", 1: "one sample", 100: "100 samples"}
NUM_EPOCHS = {1000: 100, 1: 10, 100: 100}
LABELS = ((13, 0.36), (55, 1.02), (90, 0.058))  # places of the runs' names: updates, loss


def draw(data):
    """Draw a figure for each run, with earlier runs behind it."""
    return [draw_step(data, step) for step in range(1, len(data["runs"]) + 1)]


def draw_step(data, step):
    """Draw the first runs."""
    figure, (left, right) = canvas(num_panels=2)
    draw_landscape(left, data["moments"], (-0.3, 3.3), (-1.05, 1.15))
    # The wild path of single samples would hide the others, so it lies below them.
    for number, run in enumerate(data["runs"][:step]):
        color, style = COLORS[number], LINE_STYLES[number] if number != 1 else "-"
        wild = run["batch_size"] == 1
        last = number == step - 1
        alpha = 1 if last else 0.45
        path = list(zip(*run["path"]))
        left.plot(
            *path, "-" if wild else "o-", color=color, alpha=alpha, zorder=2 if wild else 3,
            linewidth=1.2 if wild else 2, markersize=4, markeredgewidth=0,
        )  # fmt: skip
        right.plot(
            *zip(*((update + 1, loss) for update, loss in run["losses"])), linestyle=style, color=color, alpha=alpha,
            linewidth=1.5 if wild else 3,
        )  # fmt: skip
        right.text(*LABELS[number], NAMES[run["batch_size"]], color=color, fontsize=17, weight="bold" if last else None)
    left.plot(*data["start"], "D", color="black", markersize=11, zorder=6)
    left.text(data["start"][0] - 0.1, data["start"][1] + 0.12, "start", ha="center")
    right.axhline(data["floor"], color="0.4", linewidth=1.5, linestyle=(0, (2, 3)))
    right.text(1.2, data["floor"] * 0.9, "noise of the data", va="top", color="0.3", fontsize=16)
    right.set(xscale="log", yscale="log", xlabel="updates", ylabel="loss over all data", ylim=(0.045, 1.4))
    right.set_yticks([0.1, 0.3, 1], ["0.1", "0.3", "1"])
    right.set_yticks([], minor=True)
    right.set_xlim(1, 12000)
    right.set_xticks([1, 10, 100, 1000, 10000], ["0", "10", "100", "1000", "10 000"])
    left.set_xticks([0, 1, 2, 3])
    left.set_yticks([-1, 0, 1])
    return figure


def words(data):
    """Return the run that each step adds, as text."""
    return [
        f"Batches of {NAMES[run['batch_size']]}: {run['num_updates']} updates lead to slope {run['end'][0]:.2f} and "
        f"offset {run['end'][1]:.2f}. In the second half the slope still varies by {run['spread'][0]:.3f}, the offset "
        f"by {run['spread'][1]:.3f}. The loss goes from {data['first_loss']:.2f} to {run['losses'][-1][1]:.3f}; "
        f"{data['floor']:.3f} is the smallest possible."
        for run in data["runs"]
    ]
