"""The throughput picture: numbers in the words, and words that do not touch."""

from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from coursekit.throughput import Row
from coursekit.throughput.picture import draw_throughput

ROWS = [Row(1, [118.3]), Row(2, [101.2, 99.1], communication_share=0.23)]


def test_the_text_alternative_says_all_numbers():
    """What was measured, what the timeline says, and what others published, said to be another machine's."""
    _, words = draw_throughput(ROWS)

    numbers = ("1 rank: 118 ", "2 ranks: 100 ", "85 %", "23 %", "P100")  # 200.3 are 84.7 % of twice 118.3
    published = ("214 images per second on 1 node", "1712", "6848", "4403 images per second on 32 nodes", "TF 1.11")
    assert [one for one in (*numbers, *published) if one not in words] == []


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [Row(1, [40.0]), Row(1, [39.0], 0.0)],
        [Row(1, [1118.0], 0.01), Row(2, [555.0] * 2, 0.2), Row(4, [900.0] * 4, 0.3), Row(32, [820.0] * 32, 1.0)],
    ],
)
def test_no_words_touch_each_other(rows):
    """Numbers above bars, legends, titles and labels each have their own place, inside the picture."""
    figure, _ = draw_throughput(rows)
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    boxes = {}
    for axes in figure.axes:
        legends = [axes.get_legend()] if axes.get_legend() else []
        for item in [*axes.texts, *legends, axes.title, axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels()]:
            words = item.get_text() if hasattr(item, "get_text") else "legend"
            if words:
                boxes[axes, words, item] = item.get_window_extent()
    touching = [(one[1], two[1]) for one, two in combinations(boxes, 2) if boxes[one].overlaps(boxes[two])]

    assert touching == []
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes.values())
