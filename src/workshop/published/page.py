"""`docs/scaling.md`: how the model works, and how well it predicts published tables and the kit's own runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import BYTES_PER_NUMBER, Layer, Network
from coursekit.scaling.posterior import DRIFT, NOISE, PRIOR, SPREAD_OF_RANKS
from coursekit.scaling.step import Settings, Work, simulate
from coursekit.text import markdown_table
from workshop.published.priors import predict_all, predict_beyond_nodes, prior_without
from workshop.published.tables import Prediction, Summary, Table, posterior_of_table, summarize, tables

RESULTS = "slides/results"
HEADINGS = ("machine", "training", "GPUs", "measured", "predicted", "nine of ten", "error", "naive")
SUMMARY_HEADINGS = ("rows", "mean error", "naive", "worst", "naive", "in the band")
OWN_HEADINGS = ("computing, s", "measured, s", "predicted, s", "error")
MEGABYTE = 1e6
PAGE = "docs/scaling.md"
TEMPLATE = "page.md.j2"
# Functions that return the known sizes, by description; `coursekit predict` knows the first, and more with --measured.
KNOWN: dict[str, Callable[[Table], set[int]]] = {
    "one GPU": lambda _: set(),
    "all sizes within a node": lambda table: table.within_node,
    "these, and the next size": lambda table: table.up_to_next,
}


@dataclass(frozen=True)
class OwnRun:
    """The time of a step, as the kit measured it and as the model predicts it; `compute_s` excludes sending."""

    what: str
    compute_s: float
    measured_s: float
    predicted_s: float

    @property
    def error(self) -> float:
        """How far the prediction is above the measurement, as a share of the measurement."""
        return self.predicted_s / self.measured_s - 1


def cells(one: Prediction) -> tuple[str, ...]:
    """Return a prediction as the cells of a table row, in the order of `HEADINGS`."""
    return (
        one.table.key, one.series.title, str(one.num_ranks), f"{one.measured:.0f}", f"{one.predicted:.0f}",
        f"{one.low:.0f}-{one.high:.0f}", f"{one.error:+.1%}" + ("" if one.covered else ", outside"),
        f"{one.naive_error:+.1%}",
    )  # fmt: skip


def in_words(summary: Summary) -> str:
    """Return the errors of all predictions in a sentence or two."""
    worst = summary.worst
    return (
        f"{summary.num_predictions} predictions: mean error {summary.mean_error:.1%}, worst {abs(worst.error):.1%} "
        f"({worst.series.title} on {worst.num_ranks} GPUs, {worst.table.title}); "
        f"the band contains {summary.covered:.0%} of the measurements. "
        f"The naive prediction, that a GPU keeps its last known speed, has a mean error of "
        f"{summary.mean_naive_error:.1%}; its worst error is {summary.worst_naive_error:.1%}."
    )


def waiting_runs(root: Path) -> list[OwnRun]:
    """Return steps of 2, 4 and 8 ranks that sleep instead of computing, each with the time predicted for its link."""
    recorded = _data(root, "waiting-ranks")
    settings = Settings("ring", recorded["cycle_ms"], contention=0.0)  # an allreduce does not slow down sleep
    runs = []
    for one in recorded["runs"]:
        link = Link(one["bandwidth_gb_per_s"], one["alpha_us"])
        machine = Machine(link, link, one["num_ranks"])
        for kind, measured_s in zip(recorded["steps"], one["step_s"]):
            layer = Layer(1.0, (kind["layer_bytes"] // BYTES_PER_NUMBER,))
            work = Work(Network("waiting", 1, (layer,) * recorded["num_layers"]), kind["sleep_s"])
            what = f"{one['num_ranks']} ranks, {recorded['num_layers']} x {kind['layer_bytes'] / MEGABYTE:.2g} MB"
            step = simulate(work, machine, one["num_ranks"], settings)
            runs.append(OwnRun(what, work.compute_s, measured_s, step.total_s))
    return runs


def text(root: Path) -> str:
    """Return the page."""
    environment = Environment(  # noqa: S701  # a page of Markdown
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, keep_trailing_newline=True
    )
    beyond = {words: predict_beyond_nodes(known) for words, known in KNOWN.items()}
    from_one, from_node, from_next = beyond.values()
    return environment.get_template(TEMPLATE).render(
        contention=Settings().contention,
        num_tables=len(tables()),
        num_machines=len({one.machine_key for one in tables()}),
        spread=SPREAD_OF_RANKS,
        prior=PRIOR,
        noise=NOISE,
        drift=DRIFT,
        by_table=_summaries("table", lambda table: table.key, predict_all()),
        by_job=_summaries("job", lambda table: table.job, predict_all()),
        by_time=_summaries("tables", _age, predict_all()),
        summary=in_words(summarize(predict_all())),
        beyond=_rows("known", {words: summarize(found) for words, found in beyond.items()}),
        from_one_by_job=_summaries("job", lambda table: table.job, from_one),
        from_node_by_time=_summaries("tables", _age, from_node),
        same_rows=[
            summarize([one for one in found if one.num_ranks not in one.table.up_to_next]).mean_error
            for found in (from_one, from_node)
        ],
        from_next_by_job=_summaries("job", lambda table: table.job, from_next),
        worst_from_one=summarize(from_one).worst,
        not_beaten_from_one=_not_beaten(from_one),
        not_beaten=_not_beaten(predict_all()),
        sources=[_source(one) for one in tables()],
        waiting_runs=markdown_table(("step", *OWN_HEADINGS), [_run(one) for one in waiting_runs(root)], "lrrrr"),
    )


def _by(key: Callable[[Table], str], predictions: Sequence[Prediction]) -> dict[str, Summary]:
    """Return for each key a summary of the predictions for all tables with this key."""
    groups: dict[str, list[Prediction]] = {}
    for one in predictions:
        groups.setdefault(key(one.table), []).append(one)
    return {name: summarize(group) for name, group in groups.items()}


def _summaries(heading: str, key: Callable[[Table], str], predictions: Sequence[Prediction]) -> str:
    """Return a Markdown table with a row of errors for each group of tables with the same key."""
    return _rows(heading, _by(key, predictions))


def _rows(heading: str, summaries: Mapping[str, Summary]) -> str:
    """Return a Markdown table with a row for each summary: its name, then its errors."""
    rows = [
        (
            name, str(one.num_predictions), f"{one.mean_error:.1%}", f"{one.mean_naive_error:.1%}",
            f"{abs(one.worst.error):.1%}", f"{one.worst_naive_error:.1%}", str(one.num_covered),
        )
        for name, one in summaries.items()
    ]  # fmt: skip
    return markdown_table((heading, *SUMMARY_HEADINGS), rows, "lrrrrrr")


def _not_beaten(predictions: Sequence[Prediction]) -> str:
    """Return the keys of the tables for which the naive prediction's mean error is no larger than the model's."""
    summaries = _by(lambda table: table.key, predictions)
    return ", ".join(f"`{name}`" for name, one in summaries.items() if one.mean_naive_error <= one.mean_error)


def _age(table: Table) -> str:
    return "later" if table.later else "first"


def _source(table: Table) -> dict[str, str]:
    """Return the parts of a table's section: its title, its key, its sources, the fitted shares, and its rows."""
    within, between = posterior_of_table(table, prior_without(table.machine_key)).bandwidth_efficiencies
    several_nodes = any(table.machine.num_nodes(size) > 1 for size in table.given)
    unmeasured = "" if several_nodes else " (the known sizes do not constrain the second share)"
    rows = [cells(one)[1:] for one in predict_all() if one.table == table]
    return {
        "title": table.title,
        "key": table.key,
        "source": table.source,
        "links_source": table.links_source,
        "fitted": f"{within:.0%} of the bandwidth within nodes, {between:.0%} between them{unmeasured}",
        "table": markdown_table(HEADINGS[1:], rows, "lrrrrrr"),
    }


def _run(run: OwnRun) -> tuple[str, ...]:
    seconds = (f"{one:.3f}" for one in (run.compute_s, run.measured_s, run.predicted_s))
    return (run.what, *seconds, f"{run.error:+.1%}")


def _data(root: Path, name: str) -> dict[str, Any]:
    """Return the measurements that one of the lecture's recorders made."""
    data: dict[str, Any] = json.loads((root / RESULTS / f"{name}.json").read_text(encoding="utf-8"))["data"]
    return data
