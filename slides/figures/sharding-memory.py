"""What a rank holds of a model whose weights, gradients and optimiser state are sharded: per parameter, and in GB."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ()
CAPTION = "A model, without activations: mixed precision with Adam, as in the paper on ZeRO."
PARTS = (("weights", 2.0), ("gradients", 2.0), ("optimiser", 12.0))  # bytes of a parameter: FP16, FP16, 3 times FP32
WAYS = {"DDP": 3, "ZeRO-1": 2, "ZeRO-2": 1, "ZeRO-3, FSDP": 0}  # how many of the parts every rank holds whole
HATCHES = ("", "//", "..")
STYLES = ("o-", "s--", "^-.", "D:")
NUM_RANKS = 8
MANY = (1, 2, 4, 8, 16, 32, 64)
BILLIONS, GPU_GB = 7, 80


def held(num_whole, num_ranks):
    """Return the bytes that a rank holds of each part of a parameter; the last parts are sharded first.

    With 8 ranks and one whole part: weights 2, gradients 2 / 8, optimiser 12 / 8 bytes.
    """
    return [size if number < num_whole else size / num_ranks for number, (_, size) in enumerate(PARTS)]


def draw():
    """Draw a bar for each way on eight ranks, and the GB of a large model by number of ranks."""
    figure, (left, right) = canvas(num_panels=2)
    for row, num_whole in enumerate(WAYS.values()):
        start = 0
        for size, color, hatch in zip(held(num_whole, NUM_RANKS), COLORS, HATCHES):
            left.barh(-row, size, left=start, height=0.6, color=color, hatch=hatch, ec="white")
            start += size
        left.text(start + 0.3, -row, f"{start:.3g}", va="center")
    left.set_yticks([-row for row in range(len(WAYS))], list(WAYS))
    left.set(xlabel=f"bytes per parameter on each of {NUM_RANKS} ranks", xlim=(0, 19), ylim=(-4.4, 0.6))
    for number, ((name, _), color, hatch) in enumerate(zip(PARTS, COLORS, HATCHES)):
        left.barh(-4, 0.9, left=6.2 * number, height=0.45, color=color, hatch=hatch, ec="white")
        left.text(6.2 * number + 1.2, -4, name, va="center", fontsize=15)
    left.grid(visible=False, axis="y")
    for (name, num_whole), style, color in zip(WAYS.items(), STYLES, COLORS[3:]):
        right.plot(MANY, [BILLIONS * sum(held(num_whole, num)) for num in MANY], style, color=color, label=name)
    right.axhline(GPU_GB, color="0.4", ls="--")
    right.text(MANY[-1], GPU_GB * 0.93, f"a GPU of {GPU_GB} GB", va="top", ha="right", fontsize=15, color="0.3")
    right.set(xscale="log", yscale="log", xlabel="ranks", ylabel=f"GB on a rank, {BILLIONS} billion parameters")
    right.set_xticks(MANY, [str(num) for num in MANY])
    right.set_yticks([2, 5, 10, 20, 50, 100], ["2", "5", "10", "20", "50", "100"])
    right.minorticks_off()
    right.legend(loc="lower left", fontsize=15)
    return figure


def words():
    """Return the bytes and the GB of the large model on eight ranks for each way, as text."""
    described = [
        f"{name} {sum(held(whole, NUM_RANKS)):.3g} bytes, {BILLIONS * sum(held(whole, NUM_RANKS)):.3g} GB"
        for name, whole in WAYS.items()
    ]
    return f"On each of {NUM_RANKS} ranks, per parameter and for {BILLIONS} billion parameters: {'; '.join(described)}."
