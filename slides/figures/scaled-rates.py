"""A batch eight times as large at four rates, and the small batch; first with a small rate, then with a large one."""

import numpy as np

from coursekit.pictures import COLORS, LINE_STYLES, MARKERS
from workshop.slides.drawing import FULL_INCH, canvas

DATA = ("results/rate-scaling",)
CAPTION = "Lines: means over seeds; marks on the right: each seed."
NAMES = {"small": "η", "linear": "k η", "warm-up": "k η, warm-up", "root": "√k η", "unscaled": "η"}
COLOR = {"small": COLORS[0], "linear": COLORS[2], "warm-up": COLORS[6], "root": COLORS[3], "unscaled": COLORS[1]}
STYLE = {"small": "-", "linear": "-", "warm-up": LINE_STYLES[3], "root": LINE_STYLES[2], "unscaled": LINE_STYLES[1]}


def draw(data):
    """Draw the accuracy by epoch, and the last accuracies, for each rate of the small batch."""
    return [_draw(data, run) for run in data["runs"]]


def _draw(data, run):
    figure, (left, right) = canvas(FULL_INCH, 2)
    left.get_gridspec().set_width_ratios([3, 2])
    epochs = np.arange(1, data["num_epochs"] + 1)
    for number, name in enumerate(NAMES):
        accuracies = 100 * np.array(run["ways"][name]["accuracies"])
        width = 4 if name == "small" else 2.8
        left.plot(epochs, accuracies.mean(axis=0), color=COLOR[name], linestyle=STYLE[name], linewidth=width)
        last = accuracies[:, -1]
        right.plot(last, [number] * len(last), MARKERS[number], color=COLOR[name], markersize=11, alpha=0.75)
        right.text(81, number, f"{last.mean():.0f} %", va="center", fontsize=18, color=COLOR[name], fontweight="bold")
        right.plot([0, 80], [number, number], color=COLOR[name], linestyle=STYLE[name], linewidth=2, alpha=0.55)
    title = f"η = {run['rate']:g}, k = {data['factor']}, warm-up over {data['num_warmup_epochs']} epochs"
    left.set_title(title, loc="left")
    left.set(xlabel="epoch", ylabel="validation accuracy, %", ylim=(0, 80), xlim=(0.8, data["num_epochs"] + 0.2))
    right.set(xlabel=f"accuracy after epoch {data['num_epochs']}, %", xlim=(20, 80))
    labels = [
        f"batch {data['small_batch' if name == 'small' else 'large_batch']}, {label.replace(', ', chr(10))}"
        for name, label in NAMES.items()
    ]
    right.set_yticks(range(len(NAMES)), labels)
    right.invert_yaxis()
    right.set_xticks([20, 40, 60, 80])
    right.grid(axis="y", visible=False)
    return figure


def words(data):
    """Return the last accuracies of every way as text."""
    texts = []
    for run in data["runs"]:
        parts = [
            f"batch {data['small_batch' if name == 'small' else 'large_batch']}, {label}: "
            f"{100 * run['ways'][name]['last']:.0f} %"
            for name, label in NAMES.items()
        ]
        texts.append(
            f"Rate of the small batch η = {run['rate']:g}, k = {data['factor']}. Validation accuracy after "
            f"{data['num_epochs']} epochs, mean of {data['num_seeds']} seeds. {'; '.join(parts)}."
        )
    return texts
