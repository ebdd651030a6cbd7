"""The small network of the demonstration: flatten, a hidden layer and an output layer, with their parameters."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import HALF_INCH, arrow, box, diagram

DATA = ("results/alexnet",)
CAPTION = "From bottom to top: the input, and what each layer makes of it."
SHAPE = "28 x 28 x 1".replace("x", "\N{MULTIPLICATION SIGN}")


def draw(results):
    """Draw the layers from bottom to top."""
    figure, axes = diagram(HALF_INCH)
    flat, hidden, output = results["mlp"]
    rows = [
        ("image", SHAPE, "", "0.35"),
        ("Flatten", flat["shape"][0], "no parameters", COLORS[0]),
        ("Dense, ReLU", hidden["shape"][0], f"{hidden['num_parameters']:,}".replace(",", " "), COLORS[2]),
        ("Dense, softmax", output["shape"][0], f"{output['num_parameters']:,}".replace(",", " "), COLORS[2]),
    ]
    for number, (name, size, parameters, color) in enumerate(rows):
        y = 0.45 + 1.08 * number
        box(axes, (1.5, y), name, (2.5, 0.62), color)
        axes.text(2.95, y, size, va="center", weight="bold")
        axes.text(5.6, y, parameters, va="center", ha="right", fontsize=16, color="0.25")
        if number:
            arrow(axes, (1.5, y - 0.74), (1.5, y - 0.33))
    axes.text(5.6, 4.28, "parameters", ha="right", fontsize=16, color="0.25")
    axes.text(2.95, 4.28, "outputs", fontsize=16, color="0.25")
    return figure


def words(results):
    """Return the text alternative."""
    flat, hidden, output = results["mlp"]
    return (
        f"Images of 28 by 28 pixels are flattened to {flat['shape'][0]} numbers. A dense layer with ReLU turns "
        f"them into {hidden['shape'][0]}, with {hidden['num_parameters']} parameters, and a dense layer with softmax "
        f"into {output['shape'][0]}, with {output['num_parameters']}."
    )
