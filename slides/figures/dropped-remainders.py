"""The validation batches of three real ranks, and the smaller ones that would be dropped."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas

DATA = ("results/validation-bias",)
CAPTION = "Each box is a batch; hatched ones are not full, and are dropped."
SIZE_INCH = (11.6, 2.9)


def draw(data):
    """Draw each rank's batches in a row."""
    figure, (axes,) = canvas(SIZE_INCH)
    for rank, one in enumerate(data["ranks"]):
        first = 0
        for size in one["batch_sizes"]:
            full = size == data["batch_size"]
            look = {"color": COLORS[rank]} if full else {"facecolor": "white", "edgecolor": COLORS[rank], "hatch": "//"}
            axes.barh(rank, size - 4, left=first + 2, height=0.6, linewidth=2, **look)
            style = {"boxstyle": "round,pad=0.15", "facecolor": "none" if full else "white", "edgecolor": "none"}
            color = "white" if full else "black"
            axes.text(first + size / 2, rank, f"{size}", ha="center", va="center", fontsize=17, color=color, bbox=style)
            first += size
    axes.set_yticks(range(data["num_ranks"]), [f"rank {rank}" for rank in range(data["num_ranks"])])
    axes.set(xlabel="images")
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def words(data):
    """Return the sizes of all batches as text."""
    ranks = "; ".join(
        f"rank {rank}: {', '.join(map(str, one['batch_sizes']))}" for rank, one in enumerate(data["ranks"])
    )
    return f"Sizes of validation batches. {ranks}. {data['dropped']['num_pictures']} images are in smaller batches."
