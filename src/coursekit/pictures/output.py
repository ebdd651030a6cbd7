"""Lay out a picture, and show it in a notebook as HTML, because JupyterLab 4 drops the alternative text of plain PNGs.

A row of panels becomes a row of images, one per panel, which wraps if the column is narrow or the page is zoomed.
For reports and feedback, the output also has the whole picture as a PNG, with its text alternative in the metadata.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

Array = np.ndarray[Any, Any]

PNG, HTML = "image/png", "text/html"
# The speed of all ranks together in a form that programs can read: `{"num_ranks": 2, "images_per_s": 61.5}`.
SPEED = "application/vnd.coursekit.speed+json"
SHARPNESS = 2  # image pixels per page pixel, so that pictures are still sharp at 200 % zoom
DPI = 100  # page pixels per inch of a figure
MAX_NUM_PANELS = 3  # longer rows are grids of photographs, which stay together
NUM_COLORS = 128  # in drawings: files need a third of the bytes, and there is no visible difference

# The four colours of Okabe and Ito (2008) that stand out from white (their orange, sky blue and yellow do not), three
# more that colour-blind readers can tell apart from them just as well, and black. Line styles and markers also differ.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#A535F9", "#452BA3", "#770728", "#000000")
GREY = "0.5"
LINE_STYLES = ("-", "--", ":", "-.")
MARKERS = "osD^vP*X"

WIDTH_INCH = 8.2  # JupyterLab leaves 828 pixels beside its file browser on a screen with 1280
WIDTH_OF_ONE_INCH = 6.5  # for a single panel, which cannot wrap if the column is narrow
HEIGHT_INCH = 3.6
PAD_INCH = 0.1

# The background stays light in dark themes, because no colour is readable on both white and black.
GROUND = "white"
CARD = '<div style="background-color: {ground}; max-width: {width}px">{images}</div>'
IMAGE = (
    '<img src="data:image/png;base64,{png}" alt="{alt}" width="{width}" height="{height}" '
    'style="max-width: 100%; height: auto; vertical-align: top">'
)


def panels(num_panels: int, height_inch: float = HEIGHT_INCH) -> tuple[Figure, list[Axes]]:
    """Return a figure with this many panels side by side."""
    from matplotlib.figure import Figure  # slow, and not needed for the constants

    width_inch = WIDTH_INCH if num_panels > 1 else WIDTH_OF_ONE_INCH
    figure = Figure(figsize=(width_inch, height_inch), layout=layout(), facecolor=GROUND)
    return figure, list(figure.subplots(1, num_panels, squeeze=False)[0])


def style(number: int) -> dict[str, Any]:
    """Return the colour and line style of the curve with this number, which may be the number of a rank."""
    return {"color": COLORS[number % len(COLORS)], "linestyle": LINE_STYLES[number % len(LINE_STYLES)]}


def layout() -> ConstrainedLayoutEngine:
    """Return a layout with some space around each panel, because the page may be dark."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine  # as above

    return ConstrainedLayoutEngine(w_pad=PAD_INCH, h_pad=PAD_INCH)


def show(figure: Figure, alt: str) -> None:
    """Show a figure in the notebook, with the text `alt` for readers who cannot see it.

    Each panel's own text is the label of its axes.
    """
    row = figure.axes if len(figure.axes) <= MAX_NUM_PANELS else []
    words = [axes.get_label() for axes in row]
    whole = " ".join([alt, *filter(None, map(str, words))])
    parts = [whole]
    if len(row) > 1:
        titles = [axes.get_title().replace("\n", " ") or axes.get_ylabel() for axes in row]
        pairs = enumerate(zip(words, titles), 1)
        others = [f"Panel {number} of {len(row)}: {text or title}" for number, (text, title) in pairs][1:]
        parts = [" ".join(filter(None, [alt, str(words[0])])), *others]
    _display(to_png(figure), whole, [(image, text) for image, text in zip(cut(figure, len(parts)), parts)])


def to_png(figure: Figure) -> bytes:
    """Return the figure as a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # as above

    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    return buffer.getvalue()


def cut(figure: Figure, num_parts: int) -> list[tuple[bytes, int, int]]:
    """Return the figure as one PNG file, or as one file per panel; each comes with its width and height in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # as above
    from PIL import Image  # as above

    figure.set_dpi(DPI * SHARPNESS)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    edges = [0, pixels.shape[1]]
    if num_parts > 1:
        boxes = [axes.get_tightbbox(canvas.get_renderer()) for axes in figure.axes]  # type: ignore[no-untyped-call]
        middles = [(left.x1 + right.x0) / 2 for left, right in zip(boxes, boxes[1:]) if left and right]
        edges[1:1] = [SHARPNESS * round(middle / SHARPNESS) for middle in middles]
    holds_photographs = any(axes.images for axes in figure.axes)
    parts = []
    for left_edge, right_edge in zip(edges, edges[1:]):
        image = Image.fromarray(np.ascontiguousarray(pixels[:, left_edge:right_edge])).convert("RGB")
        buffer = io.BytesIO()
        (image if holds_photographs else image.quantize(NUM_COLORS)).save(buffer, format="png", optimize=True)
        parts.append((buffer.getvalue(), image.width, image.height))
    return parts


def _display(png: bytes, alt: str, images: Sequence[tuple[tuple[bytes, int, int], str]]) -> None:
    from IPython.display import display  # as above

    shown = [
        IMAGE.format(png=_base64(part), alt=html.escape(text), width=width // SHARPNESS, height=height // SHARPNESS)
        for (part, width, height), text in images
    ]
    # Add one pixel, because otherwise rounding could wrap the last panel.
    total = 1 + sum(width // SHARPNESS for (_, width, _), _ in images)
    data: dict[str, Any] = {
        HTML: CARD.format(ground=GROUND, width=total, images="".join(shown)),
        PNG: _base64(png),
        "text/plain": alt,
    }
    display(data, raw=True, metadata={PNG: {"alt": alt}})  # type: ignore[no-untyped-call]


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
