"""The sliders of deck 11: what they show without scripts, and that a browser answers when one is moved."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest

from coursekit.scaling.belief import SPREAD_OF_RANKS
from coursekit.scaling.step import simulate
from workshop.published.tables import belief_of, tables
from workshop.slides import explorer
from workshop.slides.browser import opened


def test_answers_are_the_simulators():
    """At the published fabric and batch, the sliders tell what the simulator does with the table's likely unknowns."""
    table = next(one for one in tables() if one.key == explorer.TABLE)
    shares = belief_of(table).likely
    batch, fabric = explorer.BATCHES.index(64), explorer.FABRICS_GBIT.index(25)
    for name in explorer.NETWORKS:
        case = table.case(next(one for one in table.series if one.network == name), 0)
        work = replace(case.work, spread=SPREAD_OF_RANKS)
        steps = [simulate(work, table.machine.slowed(*shares), gpus, case.settings) for gpus in explorer.NUMS_GPUS]

        assert explorer.predictions(name)[batch][fabric] == [round(100 * step.efficiency) for step in steps]


def test_the_block_survives_markdown():
    """No empty line ends the block, Marp finds nothing to escape in the script, and curves are there without it."""
    block = explorer.explorer()
    script = re.search(r"<script>(.*)</script>", block, re.DOTALL)[1]

    assert html.escape(script, quote=False) == script

    assert not re.search(r"\n\s*\n", block)
    assert block.count("<polyline") == 2
    assert all(len(points.split()) == len(explorer.NUMS_GPUS) for points in re.findall(r'points="(.*?)"', block))


@pytest.mark.needs("chromium")
def test_a_slider_that_is_moved_changes_curve_and_number():
    """In a browser, without a network: the number beside the slider and the efficiency follow."""
    with opened() as page:
        page.set_content(explorer.explorer())
        before = page.locator("span[data-network=VGG16]").inner_text()
        line = page.locator("polyline[data-network=VGG16]").get_attribute("points")
        page.locator("input[data-list=fabrics]").fill(str(len(explorer.FABRICS_GBIT) - 1))
        after = page.locator("span[data-network=VGG16]").inner_text()
        told = page.locator("label").nth(1).inner_text()
        moved = page.locator("polyline[data-network=VGG16]").get_attribute("points")
    batch = explorer.BATCHES.index(64)
    at = explorer.MIDDLE["gpus"]
    table = explorer.predictions("VGG16")[batch]

    assert (int(before), int(after)) == (table[explorer.MIDDLE["fabric"]][at], table[-1][at])
    assert told.startswith("Gbit/s of a node: 800")
    assert line != moved
