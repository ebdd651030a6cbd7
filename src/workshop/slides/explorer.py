"""The slide on which a room asks the simulator: sliders over predictions that were made when the deck was made.

The page holds all answers, so that it needs neither a network nor a second model in JavaScript.
Without scripts, and in the PDF, it shows the curves of the middle settings.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from coursekit.pictures import COLORS
from coursekit.scaling.belief import SPREAD_OF_RANKS
from coursekit.scaling.machine import GBIT_PER_GBYTE
from coursekit.scaling.step import simulate
from workshop.published.tables import belief_of, tables

TABLE = "pascal-horovod"  # nodes and GPUs are those of the slide before; the fabric is that of the slider
NETWORKS = ("InceptionV3", "VGG16")
BATCHES = (8, 16, 32, 64, 128, 256)
FABRICS_GBIT = (10, 25, 50, 100, 200, 400, 800)
NUMS_GPUS = tuple(2**power for power in range(11))
MIDDLE = {"batch": 3, "fabric": 1, "gpus": 6}  # places in these lists


def explorer() -> str:
    """Return the sliders as HTML for a deck, in one block without empty lines, as Markdown wants it."""
    environment = Environment(  # noqa: S701  # our own numbers, and no text of others
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    efficiencies = {name: predictions(name) for name in NETWORKS}
    filled = environment.get_template("explorer.html.j2").render(
        data=json.dumps({"batches": BATCHES, "fabrics": FABRICS_GBIT, "gpus": NUMS_GPUS, "efficiencies": efficiencies}),
        middle=MIDDLE,
        last={"batch": len(BATCHES) - 1, "fabric": len(FABRICS_GBIT) - 1, "gpus": len(NUMS_GPUS) - 1},
        networks=[(name, color) for name, color in zip(NETWORKS, COLORS)],
        start={name: efficiencies[name][MIDDLE["batch"]][MIDDLE["fabric"]] for name in NETWORKS},
        nums_gpus=NUMS_GPUS,
        batch=BATCHES[MIDDLE["batch"]],
        fabric=FABRICS_GBIT[MIDDLE["fabric"]],
        num_gpus=NUMS_GPUS[MIDDLE["gpus"]],
        at=MIDDLE["gpus"],
    )
    return "\n".join(line for line in filled.splitlines() if line.strip())


def predictions(name: str) -> list[list[list[int]]]:
    """Return efficiencies in per cent, by batch, fabric and number of GPUs."""
    table = next(one for one in tables() if one.key == TABLE)
    series = next(one for one in table.series if one.network == name)
    case = table.case(series, 0)
    within, between = belief_of(table).likely
    image_s = case.work.compute_s / series.batch_size

    def efficiency(batch: int, gbit: int, num_gpus: int) -> int:
        link = replace(table.between, gbyte_per_s=gbit / GBIT_PER_GBYTE)
        machine = replace(table.machine, between=link).slowed(within, between)
        work = replace(case.work, compute_s=batch * image_s, spread=SPREAD_OF_RANKS)
        return round(100 * simulate(work, machine, num_gpus, case.settings).efficiency)

    return [[[efficiency(batch, gbit, gpus) for gpus in NUMS_GPUS] for gbit in FABRICS_GBIT] for batch in BATCHES]
