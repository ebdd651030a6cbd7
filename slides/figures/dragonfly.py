"""A dragonfly: within a group every switch is one hop away, and a few long links join the groups."""

import math

from coursekit.pictures import COLORS
from workshop.slides.drawing import diagram

DATA = ()
CAPTION = "A dragonfly of four groups with six switches each; the job's nodes are on the round, coloured ones."

NUM_SWITCHES = 6
CENTERS = ((1.7, 2.25), (4.4, 2.25), (7.2, 2.25), (9.9, 2.25))
RADIUS = 0.92
# group and switch of the job's nodes
SPREAD = ((0, 0), (0, 3), (1, 1), (1, 4), (2, 0), (2, 5), (3, 2), (3, 3))
TOGETHER = tuple((1, switch) for switch in range(NUM_SWITCHES))


def draw():
    """Draw a job that is spread over all groups, and one that asked for a single group."""
    return [_picture(SPREAD, "anywhere: gradients cross the long links"), _picture(TOGETHER, "--switches=1: one group")]


def _place(group, switch):
    angle = 2 * math.pi * switch / NUM_SWITCHES
    return CENTERS[group][0] + RADIUS * math.cos(angle), CENTERS[group][1] + RADIUS * math.sin(angle)


def _picture(used, title):
    figure, axes = diagram()
    axes.text(5.8, 4.4, title, ha="center", va="center", fontweight="bold")
    job_groups = {group for group, _ in used}
    for first in range(len(CENTERS)):
        for second in range(first + 1, len(CENTERS)):
            _link(axes, first, second, loud={first, second} <= job_groups)
    for group, center in enumerate(CENTERS):
        places = [_place(group, switch) for switch in range(NUM_SWITCHES)]
        for number, start in enumerate(places):
            for other, end in enumerate(places[:number]):
                loud = {(group, number), (group, other)} <= set(used)
                axes.plot(*zip(start, end), color=COLORS[1] if loud else "0.8", lw=2.5 if loud else 1, zorder=1)
        for switch, place in enumerate(places):
            on = (group, switch) in used
            axes.plot(*place, "o" if on else "s", color=COLORS[1] if on else "0.55", ms=15 if on else 10, zorder=2)
        axes.text(center[0], 0.22, f"group {group}", ha="center", va="center")
    return figure


def _link(axes, first, second, *, loud):
    """Draw the long link between two groups, as an arc above or below."""
    start, end = CENTERS[first][0] + 0.3, CENTERS[second][0] - 0.3
    width, side = end - start, 1 if (first + second) % 2 else -1
    height = 0.22 + 0.17 * (second - first)
    xs = [start + width * number / 30 for number in range(31)]
    ys = [CENTERS[0][1] + side * (RADIUS + height * math.sin(math.pi * number / 30)) for number in range(31)]
    axes.plot(xs, ys, color=COLORS[1] if loud else "0.6", lw=4 if loud else 2, ls="--", zorder=0)


def words():
    """Return both placements as text."""
    return [
        (
            "Four groups of six switches; within a group, every two switches are linked, and one long link joins "
            "each pair of groups. The job's nodes are in all four groups, and its gradients cross all six long links."
        ),
        "The same network; all of the job's nodes are on switches of group 1, and no long link carries its gradients.",
    ]
