"""Fill in a deck: replace its Jinja marks by figures, recorded numbers, quoted facts, sites and labs."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from traceback import walk_tb
from typing import Any

import jinja2

from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs
from coursekit.slurm.sites.load import load_sites
from workshop.slides import results, sources
from workshop.slides.deck import Deck, split
from workshop.slides.figures import KINDS, Drawn, draw

COMMENT = re.compile(r"\s+#\s.*$")
ORIGIN = re.compile(r'<span class="origin (\w+)" .*? title="(.*?)">')
LEGEND = '<p class="legend">Under a figure: {marks}</p>'
THIN_SPACE = "\N{NARROW NO-BREAK SPACE}"


@dataclass
class Filler:
    """Fills in decks; figures are drawn into `folder` when a deck first asks for them.

    A deck may write

    - `{{ figure("ring", 2) }}`: a figure, or one step of it; `{{ num_steps("ring") }}`: the number of its steps;
    - `{{ motion("ring") }}`: all its steps, one after another in one place; in print, only the last one;
    - `{{ glossary("rank", "world size") }}`: terms of `docs/glossary.md`;
    - `{{ results.allreduce.bandwidth_gb_per_s | sig }}`: a recorded number;
    - `{{ facts.fusion_threshold }}`: a quoted fact; at the end, `{{ sources() }}` lists the sources of all facts;
    - `{{ published.imagenet.rows }}`, `{{ sites["jean-zay"].summary }}`, `{{ labs["01-sgd"].minutes }}`;
    - `{{ lines("slurm/jobs/karolina/02-horovod-sgd.sbatch", "#SBATCH") }}`: lines of a file (see `quoted_lines`).
    """

    root: Path
    folder: Path
    drawn: dict[str, Drawn] = field(default_factory=dict)

    def fill(self, deck: Deck) -> str:
        """Return the Markdown of a deck's slides with all marks filled in.

        Raises:
            CourseKitError: the deck names something that does not exist; the message gives the line.
        """
        quoted: list[str] = []
        environment = self._environment(quoted)
        where = f"slides/{deck.path.name}"
        try:
            filled = environment.from_string(deck.body).render(deck=deck)
        except jinja2.TemplateSyntaxError as error:
            raise CourseKitError(f"{where}, line {self._line(deck, error)}: {error.message}.", "deck.syntax") from None
        except (jinja2.UndefinedError, KeyError) as error:
            raise CourseKitError(f"{where}, line {self._line(deck, error)}: {error}.", "deck.undefined") from None
        except CourseKitError as error:
            raise CourseKitError(f"{where}, line {self._line(deck, error)}: {error}") from None
        return _with_origins(list(split(filled)))

    def figure(self, name: str, step: int = 1) -> str:
        """Return one step of a figure as HTML; the figure is drawn if it has not been yet."""
        drawn = self._draw(name)
        if not 1 <= step <= len(drawn.files):
            raise CourseKitError(
                f"the figure {name} has no step {step}: its last step is {len(drawn.files)}.", "figure.no-step"
            )
        return drawn.html(step)

    def motion(self, name: str) -> str:
        """Return HTML that shows all steps of a figure one after another, in the same place."""
        return self._draw(name).motion()

    def num_steps(self, name: str) -> int:
        """Return the number of steps of a figure."""
        return len(self._draw(name).files)

    def _draw(self, name: str) -> Drawn:
        if name not in self.drawn:
            self.drawn[name] = draw(self.root, name, self.folder)
        return self.drawn[name]

    def _environment(self, quoted: list[str]) -> jinja2.Environment:
        """Return the Jinja environment for one deck; the sources of quoted facts are added to `quoted`."""
        environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True)  # noqa: S701  # decks are the authors' own Markdown and HTML
        environment.globals.update(
            figure=self.figure,
            motion=self.motion,
            glossary=partial(sources.glossary, self.root),
            num_steps=self.num_steps,
            results=_Lazy(lambda name: results.load(self.root, name).data),
            facts=_Lazy(partial(_fact, sources.load_facts(self.root), quoted)),
            published=_Lazy(lambda name: self._published(name, quoted)),
            sources=lambda: "\n".join(f"- {source}" for source in dict.fromkeys(quoted)),
            lines=partial(quoted_lines, self.root),
            sites={site.name: site for site in load_sites(self.root)},
            labs={lab.name: lab for lab in find_labs(self.root)},
        )
        environment.filters.update(sig=significant, percent=percent)
        return environment

    def _published(self, name: str, quoted: list[str]) -> sources.Published:
        table = sources.load_published(self.root, name)
        quoted.append(f"{table.source} ({table.machine})")
        return table

    def _line(self, deck: Deck, error: Exception) -> int:
        """Return the number of the line in the deck's file at which a mark failed."""
        places = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == "<template>"]
        lines = [error.lineno] if isinstance(error, jinja2.TemplateSyntaxError) else places or [1]
        text = deck.path.read_text(encoding="utf-8")
        return lines[-1] + text[: len(text) - len(deck.body)].count("\n")


def _with_origins(slides: list[str]) -> str:
    """Add the origins of figures to each slide's notes, and a legend of the marks to the first slide."""
    kinds = {kind for slide in slides for kind, _ in ORIGIN.findall(slide)}
    for number, slide in enumerate(slides):
        origins = dict.fromkeys(origin for _, origin in ORIGIN.findall(slide))
        slides[number] += "".join(f"\n\n<!-- {html.unescape(origin)} -->\n" for origin in origins)
    if kinds:
        marks = ", ".join(f'<span class="origin {kind}"></span> {KINDS[kind]}' for kind in KINDS if kind in kinds)
        slides[0] += f"\n\n{LEGEND.format(marks=marks)}\n"
    return "\n---\n".join(slides)


class _Lazy:
    """Loads an item only when a deck names it."""

    def __init__(self, load: Callable[[str], Any]) -> None:
        self._load = load

    def __getitem__(self, name: str) -> Any:
        return self._load(name)


def _fact(facts: Mapping[str, sources.Fact], quoted: list[str], name: str) -> str:
    """Return a fact's value, and add its source to `quoted`."""
    if name not in facts:
        raise CourseKitError(f"{sources.FACTS}/ has no fact {name!r}.", "fact.unknown")
    quoted.append(facts[name].source)
    return facts[name].value


def significant(value: float, digits: int = 2) -> str:
    """Return a number as text with this many significant digits, never as a power of ten."""
    rounded = float(f"{value:.{digits}g}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded)))) if rounded else 0
    return f"{rounded:,.{decimals}f}".replace(",", THIN_SPACE)


def percent(share: float, digits: int = 0) -> str:
    """Return a share of 1 as text in percent."""
    return f"{100 * share:.{digits}f} %"


def quoted_lines(root: Path, name: str, *starts: str, comments: bool = True) -> str:
    """Return the lines of a file that begin with one of `starts`, in file order; all lines if none is given.

    A slide then shows exactly what people submit.

    Args:
        root: the course checkout.
        name: the file's path in it, such as `slurm/jobs/karolina/02-horovod-sgd.sbatch`.
        starts: beginnings of lines, such as `#SBATCH --nodes`.
        comments: whether the comment after the code of a line (from # on) is quoted, too.

    Raises:
        CourseKitError: the file is not in the checkout, or one of the beginnings matches no line.
    """
    path = root / name
    if not path.is_file() or ".." in path.parts or not path.is_relative_to(root):
        raise CourseKitError(f"there is no file {name} to quote.", "quotation.no-file")
    lines = path.read_text(encoding="utf-8").splitlines()
    for start in starts:
        if not any(line.startswith(start) for line in lines):
            raise CourseKitError(f"{name} has no line that begins with {start!r}.", "quotation.no-line")
    picked = [line for line in lines if line.startswith(starts or ("",))]
    return "\n".join(picked if comments else [COMMENT.sub("", line) for line in picked])
