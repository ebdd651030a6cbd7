"""The same network on the same GPU, with the software of three different years."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ("published/daint-2017", "published/cscs-p100")
CAPTION = "InceptionV3, 64 images per step. First: e-bug, 2017. Others: expected by CSCS's regression tests."


def _speeds(measured, expected):
    """Return images per second of one GPU by software: the first measured alone, the others as one of up to 32."""
    older, newer = expected.rows[-1], expected.rows[0]
    return {
        "TF 1, 2017": measured.rows[0]["images_per_s"],
        "TF 1.11,\nHorovod 0.15": older["images_per_s"] / older["num_gpus"],
        "TF 2.4,\nHorovod 0.21": newer["images_per_s"] / newer["num_gpus"],
    }


def draw(measured, expected):
    """Draw a bar for each software."""
    figure, (axes,) = canvas(HALF_INCH)
    speeds = _speeds(measured, expected)
    bars = axes.bar(range(len(speeds)), list(speeds.values()), color=["0.6", "0.6", COLORS[0]], width=0.6)
    axes.bar_label(bars, fmt="%.0f", padding=3)
    axes.set_xticks(range(len(speeds)), list(speeds))
    axes.set_ylabel("images/s of one P100")
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.12)
    return figure


def words(measured, expected):
    """Return the speeds as text."""
    described = (f"{software}: {speed:.0f}" for software, speed in _speeds(measured, expected).items())
    return f"Images per second of one P100 by software. {'; '.join(described)}.".replace("\n", " ")
