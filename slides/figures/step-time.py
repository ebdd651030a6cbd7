"""Where the time of a step goes, and what overlapping and faster arithmetic save."""

from __future__ import annotations

from workshop.slides.drawing import COMMUNICATE, COMPUTE, INPUT, canvas

DATA = ()
CAPTION = "Three steps of one rank; lengths are chosen, not measured."
NUM_STEPS = 3
READ, WORK, TALK = 2.0, 3.0, 1.5
FASTER = 1.4  # length of the work in mixed precision, compiled
HATCHES = {INPUT: "..", COMPUTE: "", COMMUNICATE: "//"}


def plan():
    """Return the phases of each way by title, each with start, length and colour."""
    one_after_another, fed, overlapped = [], [], []
    now = 0.0
    for _ in range(NUM_STEPS):
        for length, color in ((READ, INPUT), (WORK, COMPUTE), (TALK, COMMUNICATE)):
            one_after_another.append((now, length, color))
            now += length
    start = READ
    for _ in range(NUM_STEPS):
        fed += [(start, WORK, COMPUTE), (start + WORK, TALK, COMMUNICATE)]
        start += WORK + TALK
    overlapped_start = READ
    for _ in range(NUM_STEPS):
        overlapped += [(overlapped_start, FASTER, COMPUTE), (overlapped_start + FASTER, TALK, COMMUNICATE)]
        overlapped_start += FASTER + TALK
    return {
        "one after\nanother": one_after_another,
        "input ahead\n(deck 07)": [(0, READ, INPUT), *fed],
        "and faster\narithmetic": [(0, READ, INPUT), *overlapped],
    }


def draw():
    """Draw one bar of phases for each way."""
    figure, (axes,) = canvas()
    for row, phases in enumerate(plan().values()):
        for start, length, color in phases:
            axes.barh(-row, length, left=start, height=0.5, color=color, hatch=HATCHES[color], edgecolor="white")
        last = phases[-1]
        axes.text(last[0] + last[1] + 0.2, -row, f"{last[0] + last[1]:.1f}", va="center")
    start = 0.0
    for word, length, color in (("input", READ, INPUT), ("compute", WORK, COMPUTE), ("communicate", TALK, COMMUNICATE)):
        axes.text(start + 0.05, 0.33, word, va="bottom", color=color, weight="bold")
        start += length
    axes.set_yticks([-row for row in range(3)], list(plan()))
    axes.set(xlabel="time (units of the model)", xlim=(0, 22), ylim=(-2.5, 0.75))
    axes.set_xticks(range(0, 21, 5))
    axes.grid(visible=False, axis="y")
    return figure


def words():
    """Return how long each way takes, as text."""
    ends = [phases[-1][0] + phases[-1][1] for phases in plan().values()]
    return (
        f"Three steps of input {READ:g}, compute {WORK:g} and communicate {TALK:g}. One after another, they take "
        f"{ends[0]:.1f} units; with input prepared ahead {ends[1]:.1f}; with compute cut to {FASTER:g} as well, "
        f"{ends[2]:.1f}, more than half of which is communication."
    )
