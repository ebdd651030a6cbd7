"""The learning rate during training: warm-up, then three ways to lower it."""

import numpy as np

from coursekit.pictures import COLORS, LINE_STYLES
from workshop.slides.drawing import canvas

DATA = ()
CAPTION = "Rates as multiples of the rate of one rank; 8 ranks, 5 epochs of warm-up, 90 epochs in all."
NUM_RANKS, NUM_WARMUP, NUM_EPOCHS = 8, 5, 90
STEPS = (30, 60, 80)
NAMES = (
    "warm-up, then constant",
    "steps: a tenth after epochs 30, 60, 80",
    "exponential: 5 % less each epoch",
    "cosine",
)
LABELS = ((20, 7.2), (31.5, 5.2), (31.5, 2.8), (46, 6.1))  # places of the schedules' names: epoch, rate


def rate(name, epoch):
    """Return the rate in an epoch, as a multiple of the rate of one rank."""
    if epoch < NUM_WARMUP:
        return 1 + (NUM_RANKS - 1) * epoch / NUM_WARMUP
    share = {
        NAMES[0]: 1,
        NAMES[1]: 0.1 ** sum(epoch >= step for step in STEPS),
        NAMES[2]: 0.95 ** (epoch - NUM_WARMUP),
        NAMES[3]: (1 + np.cos(np.pi * (epoch - NUM_WARMUP) / (NUM_EPOCHS - NUM_WARMUP))) / 2,
    }[name]
    return NUM_RANKS * share


def draw():
    """Draw the warm-up alone, then each schedule over those before it."""
    return [_draw(number) for number in range(len(NAMES))]


def _draw(shown):
    figure, (axes,) = canvas()
    epochs = np.linspace(0, NUM_EPOCHS, 1801)
    for number, name in enumerate(NAMES):
        if number > shown or (number == 0 and shown):
            continue
        look = {"color": COLORS[number], "linestyle": LINE_STYLES[number]} if number == shown else {"color": "0.75"}
        axes.plot(epochs, [rate(name, epoch) for epoch in epochs], linewidth=4, **look)
    axes.axvspan(0, NUM_WARMUP, color="0.93", zorder=0)
    axes.text(NUM_WARMUP + 1, 8.7, "← warm-up", fontsize=17, va="center")
    axes.set(xlabel="epoch", ylabel="learning rate", xlim=(0, NUM_EPOCHS), ylim=(0, 9.3))
    axes.set_yticks([1, 8], ["η", "8η"])
    axes.text(*LABELS[shown], NAMES[shown], color=COLORS[shown], fontsize=20, weight="bold")
    return figure


def words():
    """Return the rate at some epochs as text."""
    marks = (0, 2.5, 5, 30, 60, 89)
    return [
        f"{name}. Learning rate by epoch, in multiples of the rate of one rank: "
        + ", ".join(f"{epoch:g}: {rate(name, epoch):.2g}" for epoch in marks)
        + "."
        for name in NAMES
    ]
