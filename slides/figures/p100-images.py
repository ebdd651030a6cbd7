"""Images per second of a P100 in CSCS's tests: the same machine with the software of two years."""

from coursekit.lecture.slides.drawing import HALF_INCH, canvas
from coursekit.pictures import COLORS

DATA = ("published/cscs-p100",)
CAPTION = "InceptionV3, 64 images per GPU."


def draw(published):
    """Draw images per second of one GPU."""
    figure, (axes,) = canvas(HALF_INCH)
    for place, row in enumerate(published.rows):
        old = "2018" in row["software"]
        speed = row["images_per_s"] / row["num_gpus"]
        axes.bar(place, speed, width=0.7, color=COLORS[1] if old else COLORS[0], hatch="//" if old else "", ec="white")
        axes.text(place, speed + 4, f"{speed:.0f}", ha="center", va="bottom")
    names = [
        f"{row['num_gpus']}{chr(10)}2018" if "2018" in row["software"] else row["num_gpus"] for row in published.rows
    ]
    axes.set_xticks(range(len(names)), names)
    axes.set(xlabel="GPUs", ylabel="images/s per GPU", ylim=(0, 260))
    axes.grid(visible=False, axis="x")
    return figure


def words(published):
    """List the figures."""
    listed = (
        f"{row['images_per_s'] / row['num_gpus']:.0f} on {row['num_gpus']} ({row['software']})"
        for row in published.rows
    )
    return f"Images per second of each GPU: {', '.join(listed)}."
