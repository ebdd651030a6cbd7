"""The report of a run: JSON for programs, one self-contained HTML file for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbconvert import HTMLExporter

from coursekit.files import write_text
from coursekit.labs.run import formatting, results
from coursekit.labs.run.engine import KERNEL_LOG, cell_name
from coursekit.labs.run.results import write_json
from coursekit.pages import page_template

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from coursekit.labs.run.results import LabResult, RunReport

HERE, TEMPLATE = Path(__file__).parent, "report.html.j2"
HTML, JSON = "report.html", "report.json"
PNG = "image/png"


@dataclass(frozen=True)
class ReportPicture:
    """One picture of an executed notebook: its base64-encoded bytes, what it shows in words, the cell that drew it."""

    png_base64: str
    alt: str
    cell: str


def write_report(folder: Path, report: RunReport) -> None:
    """Write `report.json`, `report.html` and every executed notebook as HTML into the run's folder."""
    write_json(folder / JSON, report.to_json())
    notebooks = {result.lab: _executed_notebook(folder, result) for result in report.labs}
    for path in notebooks.values():
        if path:
            _export_html(path)
    template = page_template(
        TEMPLATE,
        HERE,
        points=formatting.format_points,
        memory=formatting.format_memory,
        time=formatting.format_time,
        speed=formatting.format_speed,
    )
    html = template.render(
        report=report,
        passed=results.PASSED,
        num_passed=sum(result.verdict == results.PASSED for result in report.labs),
        links={lab: _links(folder, path) for lab, path in notebooks.items()},
        pictures={lab: find_pictures(path) if path else () for lab, path in notebooks.items()},
        describe_commit=formatting.describe_commit,
        describe_machine=formatting.describe_machine,
        describe_versions=formatting.describe_versions,
    )
    write_text(folder / HTML, html)


def find_pictures(notebook: Path) -> tuple[ReportPicture, ...]:
    """Return the PNG outputs of an executed notebook, in its order."""
    cells = nbformat.read(notebook, as_version=4).cells
    return tuple(
        ReportPicture(output.data[PNG].replace("\n", ""), _alternative_text(output, cell_name(cell)), cell_name(cell))
        for cell in cells
        for output in cell.get("outputs", [])
        if PNG in output.get("data", {})
    )


def _alternative_text(output: NotebookNode, cell: str) -> str:
    """Return the picture in words: as its author wrote them, else its plain text, else where it comes from."""
    written = output.metadata.get(PNG, {}).get("alt") or output.metadata.get("alt")
    plain = output.data.get("text/plain", "")
    # A printed object such as "<Figure size 640x480 with 1 Axes>" tells a listener nothing.
    return str(written or (plain if not plain.startswith("<") else "") or f"Picture drawn by the cell {cell}")


def _executed_notebook(folder: Path, result: LabResult) -> Path | None:
    path = folder / result.lab / f"{result.lab}.ipynb"
    return path if result.verdict != results.NOT_RUN and path.exists() else None


def _export_html(notebook: Path) -> None:
    html = notebook.with_suffix(".html")
    if html.exists() and html.stat().st_mtime >= notebook.stat().st_mtime:
        return
    text, _ = HTMLExporter().from_filename(str(notebook))  # type: ignore[no-untyped-call]
    write_text(html, text)


def _links(folder: Path, notebook: Path | None) -> list[tuple[str, str]]:
    """Return text and relative address of each file that a reader may want to open."""
    if notebook is None:
        return []
    candidates = [
        ("Executed notebook to read", notebook.with_suffix(".html")),
        ("Executed notebook for Jupyter", notebook),
        ("What the kernel wrote", notebook.parent / KERNEL_LOG),
    ]
    return [
        (text, path.relative_to(folder).as_posix())
        for text, path in candidates
        if path.exists() and path.stat().st_size
    ]
