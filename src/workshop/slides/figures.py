"""Figures: `slides/figures/<name>.py` draws one from recorded results, published figures, site files, or a model.

Such a script defines

- `DATA`, what it draws, such as `("results/allreduce", "published/imagenet", "sites", "course")`; `()` for a model;
- `CAPTION`, one sentence: what is to be seen; of a model that looks like a measurement, that it is a model;
- `draw(*data)`, which returns a matplotlib figure, or a list of them for a sequence of steps,
  or the path of a PNG file for a screenshot that a recorder took;
- `words(*data)`, the text alternative: one text, or as many as there are steps.
"""

from __future__ import annotations

import html
import math
import re
import runpy
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs
from coursekit.slurm.sites.load import load_sites
from coursekit.text import counted
from workshop.slides import fonts, results, sources
from workshop.slides.deck import find_decks

FIGURES = "slides/figures"
STYLE = "slides.mplstyle"
NEEDED = ("DATA", "CAPTION", "draw", "words")
MODEL = "A model: no run is behind it."
# What stands for where a figure comes from, below it: a mark, whose meaning is in the legend on a deck's first slide.
KINDS = {
    "model": "a model",
    "results": "a run of ours",
    "published": "published by others",
    "sites": "from the machines' files",
    "course": "from the course's own files",
}
MARK = '<span class="origin {kind}" role="img" aria-label="{meaning}" title="{origin}"></span>'
HTML = "<figure>\n{shown}\n<figcaption>{marks} {caption}</figcaption>\n</figure>"
IMAGE = '<img src="figures/{file}" alt="{alt}">'
# Steps in one place, each visible in its turn; what print and readers without motion get: slides/theme.css.
FRAME = '<img src="figures/{file}" alt="{alt}" style="animation: frames-{num} {all_s}s {delay_s}s infinite both">'
FRAMES = (
    "<style>@keyframes frames-{num} "
    "{{ 0%, {share:.3f}% {{ opacity: 1 }} {share:.3f}1%, 100% {{ opacity: 0 }} }}</style>"
)
FRAME_S = 2
# Hatches as matplotlib writes them: a square of ground and lines that is repeated, and the shapes that it fills.
PATTERN = re.compile(
    r'<pattern id="(?P<id>\w+)" [^>]*width="(?P<side>\d+)"[^>]*>\s*'
    r'<rect [^>]*fill="(?P<ground>[^"]+)"/>\s*(?P<lines><path [^>]*/>)\s*</pattern>'
)
SHAPE = re.compile(r'<path d="(?P<d>[^"]+)"(?P<rest>[^>]*?)style="fill: url\(#(?P<id>\w+)\)(?P<style>[^"]*)"/>')
CLIP = re.compile(r'clip-path="[^"]+"')
OPACITY = re.compile(r"(?<!-)opacity: ([\d.]+)")
STROKE_OPACITY = re.compile(r"; stroke-opacity: [\d.]+")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


@dataclass(frozen=True)
class Drawn:
    """A figure as it was drawn.

    Attributes:
        files: one for each step.
        alts: a text alternative for each step.
        caption: what is to be seen.
        origins: by kind, one of `KINDS`, where the data come from, in a sentence.
    """

    files: tuple[str, ...]
    alts: tuple[str, ...]
    caption: str
    origins: Mapping[str, str]

    def html(self, step: int) -> str:
        """Return one step, from 1, as it stands in a deck."""
        return self._html(IMAGE.format(file=self.files[step - 1], alt=html.escape(self.alts[step - 1])))

    def motion(self) -> str:
        """Return all steps in one place, one after another, as they stand in a deck."""
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
    """Draw a figure into files of `folder`: `<name>.svg`, or `<name>-<step>.svg` of a sequence.

    Raises:
        CourseKitError: there is no such figure, its script lacks something, or a result is missing.
    """
    import matplotlib.style  # costs a second

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
        raise CourseKitError(f"{FIGURES}/{name}.py: draw() returns {counted(len(files), 'figure')}, words() {texts}.")
    origins: dict[str, str] = {} if loaded else {"model": MODEL}
    for source, (_, origin) in zip(script["DATA"], loaded):
        kind = source.partition("/")[0]
        origins[kind] = " ".join(filter(None, (origins.get(kind), origin)))
    return Drawn(tuple(files), tuple(alts), script["CAPTION"], origins)


def _load(root: Path, name: str) -> dict[str, Any]:
    path = root / FIGURES / f"{name}.py"
    if not path.is_file():
        raise CourseKitError(f"there is no {FIGURES}/{name}.py: write it, or see {FIGURES}/ for those there are.")
    script = runpy.run_path(str(path), run_name="figure")
    missing = [needed for needed in NEEDED if needed not in script]
    if missing:
        raise CourseKitError(f"{FIGURES}/{name}.py does not define {', '.join(missing)}.")
    return script


def _load_data(root: Path, source: str) -> tuple[Any, str]:
    """Return what a figure draws, and a sentence on where it comes from."""
    kind, _, name = source.partition("/")
    if kind == "results":
        result = results.load(root, name)
        return result.data, result.words
    if kind == "published":
        published = sources.load_published(root, name)
        return published, published.words
    if source == "sites":
        return {site.name: site for site in load_sites(root)}, "From the files of slurm/sites/."
    if source == "course":
        return (find_decks(root), find_labs(root)), "From the headers of the decks and the files of the labs."
    raise CourseKitError(
        f"{source!r} is not the data of a figure: write results/NAME, published/NAME, sites or course."
    )


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _save(drawn: Any, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(drawn, Path):
        shutil.copyfile(drawn, path.with_suffix(".png"))
        return f"{path.name}.png"
    file = path.with_name(f"{path.name}.svg")
    drawn.savefig(file, metadata={"Date": None})
    file.write_text(as_lines(file.read_text(encoding="utf-8")), encoding="utf-8")
    return file.name


def as_lines(svg: str) -> str:
    """Return the text of an SVG file of matplotlib with lines in place of the patterns that fill its paths.

    A browser that prints turns each pattern into a picture of many megabytes.
    So each such shape is filled with the colour of the ground, and its lines are repeated below a clip of its form.
    """
    patterns = {found["id"]: found for found in PATTERN.finditer(svg)}
    names = (f"hatched{number}" for number in range(len(svg)))

    def draw(shape: re.Match[str]) -> str:
        pattern, name = patterns[shape["id"]], next(names)
        path = f'<path d="{shape["d"]}"{shape["rest"]}style="fill: '
        outer = CLIP.search(shape["rest"])
        opacity = OPACITY.search(shape["style"])
        lines = "".join(f'<use href="#{shape["id"]}" x="{x}" y="{y}"/>' for x, y in _squares(shape, pattern))
        return (
            f'{path}{pattern["ground"]}{shape["style"]}"/>\n'
            f'<clipPath id="{name}"><path d="{shape["d"]}"/></clipPath>\n'
            f'<g {outer[0] if outer else ""}><g clip-path="url(#{name})" opacity="{opacity[1] if opacity else 1}">'
            f'{lines}</g></g>\n{path}none{shape["style"]}"/>'
        )

    drawn = SHAPE.sub(draw, svg)
    return PATTERN.sub(
        # Neighbours' lines overlap: if one can look through them, they are darker there.
        lambda found: STROKE_OPACITY.sub("", f'<g id="{found["id"]}">{found["lines"]}</g>'),
        drawn,
    )


def _squares(shape: re.Match[str], pattern: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield where the squares of a pattern begin that a shape touches; its path is in absolute coordinates."""
    side = int(pattern["side"])
    numbers = [float(number) for number in NUMBER.findall(shape["d"])]
    (left, right), (top, bottom) = ((min(axis), max(axis)) for axis in (numbers[::2], numbers[1::2]))
    for x in range(math.floor(left / side) * side, math.ceil(right), side):
        for y in range(math.floor(top / side) * side, math.ceil(bottom), side):
            yield x, y
