"""`coursekit predict`: what a training will do on more nodes, and how well published tables are predicted."""

from __future__ import annotations

import io
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root
from coursekit.slurm.jobs.predict import check_lab, make_plan, read_values, too_many_nodes
from coursekit.slurm.sites.load import load_site
from coursekit.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from coursekit.scaling.forecast import Forecast
    from coursekit.scaling.published import Prediction

MILLISECONDS = 1000
MINUTES_PER_HOUR = 60
WIDEST = 1000  # characters of a table


@click.command(epilog="Example: coursekit predict 03 --site karolina --nodes 1,2,4,8 -p batch_size 128")
@click.argument("lab", required=False)
@click.option("--site", "site_name", metavar="NAME", help="The machine, as `coursekit sites` lists it.")
@click.option("--partition", metavar="P", help="A partition of the site's profile.")
@click.option("--nodes", default="1,2,4,8", show_default=True, metavar="N,N", help="Numbers of nodes.")
@click.option(
    "-p", "--parameter", "texts", nargs=2, multiple=True, metavar="NAME VALUE", help="Value for a parameter of the lab."
)
@click.option(
    "--from", "measured", type=click.Path(path_type=Path), metavar="DIR", help="A job of yours on one node, in jobs/."
)
@click.option(
    "--picture", type=click.Path(path_type=Path), help="Where to draw it, as SVG or PNG; by default in build/."
)
@click.option("--published", is_flag=True, help="Predict published tables, and show the errors.")
@click.option("--markdown", type=click.Path(path_type=Path), help="With --published: write the page docs/scaling.md.")
@click.option(
    "--table",
    "own_tables",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Predict a table that you found elsewhere; docs/scaling.md has its form.",
)
def predict(  # noqa: PLR0913, PLR0917  # click hands the options over by name
    lab: str | None,
    site_name: str | None,
    partition: str | None,
    nodes: str,
    texts: tuple[tuple[str, str], ...],
    measured: Path | None,
    picture: Path | None,
    published: bool,
    markdown: Path | None,
    own_tables: Path | None,
) -> None:
    """Predict a LAB's training on more and more nodes of a site: speed, its band, parts of a step, cost.

    By default that is ResNet50, as fast as somebody published for the site's GPU.
    With --from, the speed is that of your own job on one node. Known parameters are those of the lab: model,
    image_size, batch_size, global_batch_size (for strong scaling), precision, compression and num_groups (0 is the
    default here); and backward_passes_per_step, batches that are added up before gradients travel, and
    input_images_per_s, what the input pipeline of a rank makes.
    """
    console = Console()
    if published:
        _show_published(console, markdown)
        return
    if own_tables:
        _show_own_tables(console, own_tables)
        return
    if not (lab and site_name):
        raise click.UsageError("give a LAB and --site, or --published, or --table.")
    from coursekit.scaling.forecast import forecast, would_help  # noqa: PLC0415  # NumPy: help answers at once
    from coursekit.scaling.picture import draw_forecast  # noqa: PLC0415  # the same

    root = find_root()
    name = select_labs(root, [lab])[0].name
    check_lab(root / "labs" / name / f"{name}.ipynb")
    site = load_site(root, site_name)
    key = partition or site.default_partition
    if key not in site.partitions:
        raise CourseKitError(f"{site.name} has no partition {key!r}; it has {', '.join(site.partitions)}.")
    plan = make_plan(site, site.partitions[key], read_values(dict(texts)), measured)
    rows = forecast(plan.training, plan.machine, _numbers(nodes))
    _print_whole(console, _table(plan.title, rows))
    images = ", waiting for images" if any(row.step.starving_s for row in rows) else ""
    console.print(
        f"A step: computing, waiting for the slowest rank, the gradients' way{images}. An epoch: ImageNet.",
        highlight=False,
        soft_wrap=True,
    )
    console.print(f"Speed: {plan.speed_from}.", soft_wrap=True, markup=False, highlight=False)
    beyond = too_many_nodes(site, site.partitions[key], rows[-1].num_nodes)
    if beyond:
        console.print(beyond, soft_wrap=True, markup=False, highlight=False)
    last = rows[-1]
    console.print(f"On {counted(last.num_nodes, 'node')}, a step is bound by {last.bound}.", highlight=False)
    for change, gain in would_help(plan.training, plan.machine, last.num_nodes):
        console.print(f"- {change}: {gain - 1:+.0%}", highlight=False)
    path = picture or root / "build" / f"predict-{name}-{site.name}.png"
    _write_picture(draw_forecast(rows, plan.title)[0], path)
    console.print(f"Picture: {path}", soft_wrap=True, markup=False, highlight=False)


def _numbers(text: str) -> list[int]:
    """Return numbers of nodes from "1,2,4"."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise CourseKitError(f"--nodes must be whole numbers above 0 with commas between them, not {text!r}.")
    return sorted({int(part) for part in parts})


def _table(title: str, rows: Sequence[Forecast]) -> Table:
    """Return a row for each number of nodes; a step is the sum of computing, the slowest rank and the gradients."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("nodes", "GPUs", "images/s", "9 of 10", "efficiency", "step, ms", "epoch, min", "GPU h"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        parts = [row.step.compute_s, row.step.waiting_s, row.step.exposed_s]
        parts += [row.step.starving_s] if row.step.starving_s else []
        table.add_row(
            str(row.num_nodes), str(row.num_ranks), f"{row.images_per_s:.0f}", f"{row.low:.0f}-{row.high:.0f}",
            f"{row.efficiency:.0%}", "+".join(f"{MILLISECONDS * seconds:.0f}" for seconds in parts),
            f"{MINUTES_PER_HOUR * row.epoch_h:.3g}", f"{row.gpu_hours:.3g}",
        )  # fmt: skip
    return table


def _show_published(console: Console, markdown: Path | None) -> None:
    """Print all predictions of published tables, and write the page if asked."""
    from coursekit.scaling import page  # noqa: PLC0415  # Matplotlib: help answers at once
    from coursekit.scaling.published import predict_all  # noqa: PLC0415  # the same

    _print_predictions(console, "Published tables, predicted from their smaller half", predict_all())
    if markdown:
        for path in page.write(find_root(), markdown):
            console.print(f"written {path}", soft_wrap=True, highlight=False)


def _show_own_tables(console: Console, file: Path) -> None:
    """Print what becomes of tables that a user wrote down, what is doubtful about them, and a picture of each."""
    from coursekit.scaling.faults import doubts_about  # noqa: PLC0415  # NumPy: help answers at once
    from coursekit.scaling.picture import draw_table  # noqa: PLC0415  # the same
    from coursekit.scaling.published import belief_of, predict, read_tables  # noqa: PLC0415  # the same

    tables = read_tables(file)
    predictions = {table.key: predict(table) for table in tables}
    _print_predictions(
        console, "Your tables, predicted from their smaller half", tuple(chain.from_iterable(predictions.values()))
    )
    for table in tables:
        share, spread = belief_of(table).likely
        words = f"{table.key}: {share:.0%} of the links' bandwidth, ranks that differ by {spread:.1%}"
        console.print(words, highlight=False, soft_wrap=True, markup=False)
        for doubt in doubts_about(table, share):
            console.print(f"- {doubt}", highlight=False, soft_wrap=True, markup=False)
        path = find_root() / "build" / f"predict-{table.key}.png"
        _write_picture(draw_table(table, predictions[table.key])[0], path)
        console.print(f"Picture: {path}", soft_wrap=True, markup=False, highlight=False)


def _print_predictions(console: Console, title: str, predictions: tuple[Prediction, ...]) -> None:
    from coursekit.scaling import page  # noqa: PLC0415  # Matplotlib: help answers at once
    from coursekit.scaling.published import summarize  # noqa: PLC0415  # the same

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in page.HEADINGS:
        table.add_column(heading, justify="left" if heading in page.WORDS else "right", no_wrap=True)
    for one in predictions:
        table.add_row(*page.cells(one))
    _print_whole(console, table)
    console.print(page.in_words(summarize(predictions)), highlight=False, soft_wrap=True, markup=False)


def _print_whole(console: Console, table: Table) -> None:
    """Print a table without cutting its cells, also where a terminal is narrower, or where there is none."""
    needed = Measurement.get(console, console.options.update(max_width=WIDEST), table).maximum
    width, console.width = console.width, max(console.width, needed)
    console.print(table)
    console.width = width


def _write_picture(figure: Figure, path: Path) -> None:
    if path.suffix not in {".svg", ".png"}:
        raise CourseKitError(f"{path} cannot be drawn: let its name end in .svg or .png.")
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix[1:], dpi=150)
    write_file(path, content.getvalue(), mode=None)
