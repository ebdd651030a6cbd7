"""Validation after an epoch: on one rank while three wait, and on all four."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import COMMUNICATE, COMPUTE, WAIT, canvas

DATA = ()
CAPTION = "A model: time goes from left to right; equal speed on all ranks."
NUM_RANKS, EPOCH, VALIDATION, ALLREDUCE = 4, 4.0, 4.0, 0.25
VALIDATE = COLORS[5]  # as in two-pipelines


def draw():
    """Draw the ranks' time in both ways."""
    figure, panels = canvas(num_panels=2)
    for panel, title, on_all in zip(panels, ("rank 0 validates", "all validate"), (False, True)):
        for rank in range(NUM_RANKS):
            own = VALIDATION / NUM_RANKS if on_all else VALIDATION * (rank == 0)
            panel.barh(rank, EPOCH, color=COMPUTE, height=0.62)
            panel.barh(rank, own, left=EPOCH, color=VALIDATE, height=0.62)
            if on_all:
                panel.barh(
                    rank, ALLREDUCE, left=EPOCH + own, color=COMMUNICATE, height=0.62, hatch="//", edgecolor="white"
                )
            elif rank:
                panel.barh(rank, VALIDATION, left=EPOCH, color=WAIT, height=0.62)
        panel.text(EPOCH / 2, 1, "training", ha="center", va="center", color="white", fontsize=22)
        panel.set(xlim=(0, EPOCH + VALIDATION + 0.2), xlabel="time", xticks=[])
        panel.set_title(title, fontsize=22)
        panel.set_yticks(range(NUM_RANKS), [f"rank {rank}" for rank in range(NUM_RANKS)])
        panel.invert_yaxis()
        panel.grid(visible=False)
    middle = EPOCH + VALIDATION / 2
    panels[0].text(middle, 0, "validation", ha="center", va="center", color="white", fontsize=20)
    panels[0].text(middle, 2, "waiting", ha="center", va="center", fontsize=20)
    end = EPOCH + VALIDATION / NUM_RANKS + ALLREDUCE
    panels[1].annotate(
        "validation,\none allreduce",
        (end, 1.5),
        (end + 0.7, 1.5),
        va="center",
        fontsize=20,
        arrowprops={"arrowstyle": "-|>", "color": "0.4"},
    )
    return figure


def words():
    """Return what both panels show, as text."""
    return (
        "After an epoch. Left: rank 0 validates on all images, and three ranks wait for as long. Right: four ranks "
        "validate on a quarter each and sum their results in one allreduce, in a quarter of the time."
    )
