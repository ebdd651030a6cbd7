"""The answer to the exercise: an allreduce of ResNet50's gradients with a star and with rings, by the model."""

from __future__ import annotations

from coursekit.pictures import COLORS
from workshop.slides.allreduce import count, ring, star
from workshop.slides.drawing import canvas

DATA = ()
CAPTION = "A model: milliseconds of one allreduce of 102 MB."
NUM_BYTES = 25.6e6 * 4
ALPHA_S, BETA_S = 5e-6, 1e-10
CASES = (("star,\n8 ranks", star(8)), ("ring,\n8 ranks", ring(8)), ("ring,\n64 ranks", ring(64)))
FORMULAS = (
    r"$14\,\alpha + 14\,n\beta$",
    r"$14\,\alpha + 1.75\,n\beta$",
    r"$126\,\alpha + 1.97\,n\beta$",
)


def draw():
    """Draw a bar for each case, with its formula."""
    figure, (axes,) = canvas()
    for index, ((_, schedule), formula) in enumerate(zip(CASES, FORMULAS)):
        milliseconds = _milliseconds(schedule)
        axes.barh(index, milliseconds, 0.55, color=COLORS[1] if index == 0 else COLORS[0], hatch="//" if index else "")
        axes.text(milliseconds + 3, index, f"{formula} = {milliseconds:.0f}", va="center")
    axes.set_yticks(range(3), [name for name, _ in CASES])
    axes.invert_yaxis()
    axes.set(xlim=(0, 185), ylim=(2.5, -0.5), xlabel="ms")
    axes.grid(visible=False, axis="y")
    return figure


def _milliseconds(schedule):
    return 1e3 * count(schedule).seconds(NUM_BYTES, ALPHA_S, BETA_S)


def words():
    """Return the three times as text."""
    described = [f"{name.replace(chr(10), ' ')} {_milliseconds(schedule):.0f} ms" for name, schedule in CASES]
    return f"One allreduce of 102 MB by the model: {'; '.join(described)}."
