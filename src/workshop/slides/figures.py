"""Figures: each `slides/figures/<name>.py` draws one from recorded results, published numbers, site files, or a model.

Such a script defines

- `DATA`, the data that it draws, such as `("results/allreduce", "published/imagenet", "sites")`; `()` for a model;
- `CAPTION`, one sentence on what the figure shows; if a model looks like a measurement, the caption says so;
- `draw(*data)`, which returns a matplotlib figure, a list of figures for a sequence of steps,
  or the path of a PNG file for a screenshot that a recorder took;
- `words(*data)`, which returns the text alternative: one text, or one for each step.
"""

from __future__ import annotations

import html
import runpy
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.legend import Legend
from matplotlib.patches import Patch

from coursekit.errors import CourseKitError
from coursekit.slurm.sites.load import load_sites
from coursekit.text import counted
from workshop.slides import fonts, results, sources

FIGURES = "slides/figures"
STYLE = "slides.mplstyle"
NEEDED = ("DATA", "CAPTION", "draw", "words")
MODEL = "A model: no run is behind it."
# Marks below a figure show where its data come from; the legend on a deck's first slide explains them.
KINDS = {
    "model": "a model",
    "results": "a run of ours",
    "published": "published by others",
    "sites": "from the machines' files",
}
MARK = '<span class="origin {kind}" role="img" aria-label="{meaning}" title="{origin}"></span>'
HTML = "<figure>\n{shown}\n<figcaption>{marks} {caption}</figcaption>\n</figure>"
IMAGE = '<img src="figures/{file}" alt="{alt}">'
# All steps in one place, each visible in turn; slides/theme.css decides what shows in print and without motion.
FRAME = '<img src="figures/{file}" alt="{alt}" style="animation: frames-{num} {all_s}s {delay_s}s infinite both">'
FRAMES = (
    "<style>@keyframes frames-{num} "
    "{{ 0%, {share:.3f}% {{ opacity: 1 }} {share:.3f}1%, 100% {{ opacity: 0 }} }}</style>"
)
FRAME_S = 2
HATCH_DPI = 200


@dataclass(frozen=True)
class Drawn:
    """A drawn figure."""

    files: tuple[str, ...]  # one for each step
    alts: tuple[str, ...]  # a text alternative for each step
    caption: str  # what the figure shows
    origins: Mapping[str, str]  # by kind, one of `KINDS`: a sentence on where the data come from

    def html(self, step: int) -> str:
        """Return the HTML of one step, counted from 1, for a deck."""
        return self._html(IMAGE.format(file=self.files[step - 1], alt=html.escape(self.alts[step - 1])))

    def motion(self) -> str:
        """Return the HTML that shows all steps in one place, one after another, for a deck."""
        num = len(self.files)
        frames = "\n".join(
            FRAME.format(file=file, alt=html.escape(alt), num=num, all_s=FRAME_S * num, delay_s=FRAME_S * (step - num))
            for step, (file, alt) in enumerate(zip(self.files, self.alts))
        )
        return f"{FRAMES.format(num=num, share=100 / num)}\n\n" + self._html(f'<div class="frames">\n{frames}\n</div>')

    def _html(self, shown: str) -> str:
        marks = "".join(
            MARK.format(kind=kind, meaning=KINDS[kind], origin=html.escape(origin))
            for kind, origin in self.origins.items()
        )
        return HTML.format(shown=shown, marks=marks, caption=html.escape(self.caption, quote=False))


def draw(root: Path, name: str, folder: Path) -> Drawn:
    """Draw a figure into `folder`, as `<name>.svg` or, for each step of a sequence, as `<name>-<step>.svg`.

    Raises:
        CourseKitError: the figure does not exist, its script is incomplete, or a result is missing.
    """
    import matplotlib.style  # takes a second

    fonts.add(root)
    script = _load(root, name)
    loaded = [_load_data(root, one) for one in script["DATA"]]
    given = [data for data, _ in loaded]
    with matplotlib.style.context(root / FIGURES / STYLE):
        drawn = _as_list(script["draw"](*given))
        files = [f"{name}{f'-{step}' if len(drawn) > 1 else ''}" for step in range(1, len(drawn) + 1)]
        files = [_save(one, folder / file) for one, file in zip(drawn, files)]
    alts = _as_list(script["words"](*given))
    if len(alts) != len(files) or not all(alts):
        texts = counted(sum(map(bool, alts)), "text")
        raise CourseKitError(
            f"{FIGURES}/{name}.py: draw() returns {counted(len(files), 'figure')}, but words() {texts}.",
            "figure.alternatives",
        )
    origins: dict[str, str] = {} if loaded else {"model": MODEL}
    for source, (_, origin) in zip(script["DATA"], loaded):
        kind = source.partition("/")[0]
        origins[kind] = " ".join(filter(None, (origins.get(kind), origin)))
    return Drawn(tuple(files), tuple(alts), script["CAPTION"], origins)


def _load(root: Path, name: str) -> dict[str, Any]:
    path = root / FIGURES / f"{name}.py"
    if not path.is_file():
        raise CourseKitError(
            f"there is no {FIGURES}/{name}.py: write it, or choose a figure from {FIGURES}/.", "figure.missing"
        )
    script = runpy.run_path(str(path), run_name="figure")
    missing = [needed for needed in NEEDED if needed not in script]
    if missing:
        raise CourseKitError(f"{FIGURES}/{name}.py does not define {', '.join(missing)}.", "figure.incomplete")
    return script


def _load_data(root: Path, source: str) -> tuple[Any, str]:
    """Return the data of a figure, and a sentence on where they come from."""
    kind, _, name = source.partition("/")
    if kind == "results":
        result = results.load(root, name)
        return result.data, result.words
    if kind == "published":
        published = sources.load_published(root, name)
        return published, published.words
    if source == "sites":
        return {site.name: site for site in load_sites(root)}, "From the files of slurm/sites/."
    raise CourseKitError(
        f"DATA cannot be {source!r}: write results/NAME, published/NAME or sites.", "figure.unknown-data"
    )


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _save(drawn: Any, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(drawn, Path):
        shutil.copyfile(drawn, path.with_suffix(".png"))
        return f"{path.name}.png"
    file = path.with_name(f"{path.name}.svg")
    for patch in drawn.findobj(lambda artist: isinstance(artist, Patch) and artist.get_hatch()):
        patch.set_rasterized(True)  # when a browser prints, each pattern becomes a picture of many megabytes
    for legend in drawn.findobj(Legend):  # as a whole, because a single patch of it would end up elsewhere
        legend.set_rasterized(any(patch.get_hatch() for patch in legend.get_patches()))
    drawn.savefig(file, metadata={"Date": None}, dpi=HATCH_DPI)
    return file.name
