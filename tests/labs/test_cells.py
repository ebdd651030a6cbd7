"""Pictures of executed cells, and their words."""

import nbformat
import pytest

from coursekit.labs.cells import pictures_in


@pytest.mark.parametrize(
    ("metadata", "plain", "alt"),
    [
        ({"image/png": {"alt": "written"}}, "plain", "written"),
        ({"alt": "written"}, "plain", "written"),
        ({}, "The loss falls.", "The loss falls."),
        ({}, "<Figure size 640x480 with 1 Axes>", "Picture drawn by the cell curve"),
        ({}, "", "Picture drawn by the cell curve"),
    ],
)
def test_a_picture_is_described(metadata, plain, alt):
    """By its author's words where there are any, and never by the name of a Python object."""
    output = nbformat.v4.new_output("display_data", {"image/png": "AA\nA=", "text/plain": plain}, metadata=metadata)
    other = nbformat.v4.new_output("display_data", {"text/plain": "no picture"})
    cells = [
        nbformat.v4.new_markdown_cell("text", id="prose"),
        nbformat.v4.new_code_cell("draw()", id="curve", outputs=[other, output]),
    ]
    assert [(picture.base64, picture.alt, picture.cell) for picture in pictures_in(cells)] == [("AAA=", alt, "curve")]
