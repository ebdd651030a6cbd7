"""Make the book: sources, an environment with Sphinx beside the course's own, the site, and a look for broken links."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs
from coursekit.lecture.book.sources import HTML, Book
from coursekit.lecture.slides.deck import find_decks

if TYPE_CHECKING:
    from collections.abc import Callable

PINS = "tools/book-requirements.lock"
MATHJAX = "slides/node_modules/mathjax-full/es5/tex-svg-full.js"
TIMEOUT_S = 600


def make_book(
    root: Path,
    build: Path,
    out: Path,
    *,
    with_solutions: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Book:
    """Make the site in `out`, whole or not at all, and return what it was made of.

    Args:
        root: the checkout.
        build: its folder of what was made before: `slides/`, and the newest run in `runs/latest/`.
        out: the site; what was there before is replaced once the new one is whole.
        with_solutions: whether solved labs are in it.
        progress: told what is being done.

    Raises:
        CourseKitError: slides or solved labs are missing, Sphinx found a fault, or a link leads nowhere.
    """
    slides, runs, mathjax = build / "slides", build / "runs" / "latest", root / MATHJAX
    missing = [deck.path.stem for deck in find_decks(root) if not (slides / f"{deck.path.stem}.html").is_file()]
    if missing or not mathjax.is_file():
        raise CourseKitError(f"{slides} has not all decks ({', '.join(missing) or MATHJAX}): `make slides` first.")
    if with_solutions:
        _refuse_unsolved(root, runs)
    progress("Sphinx")
    python = sphinx_python(root)
    progress("pages")
    book = Book(root, build / "book-source", runs, with_solutions)
    book.gather()
    # In a folder of its own: MyST-NB leaves solved notebooks beside the site, and beside `out` may be a web server's.
    scratch = out.with_name(f".{out.name}.new")
    shutil.rmtree(scratch, ignore_errors=True)
    unfinished = scratch / out.name
    progress("the site")
    _sphinx(python, book.folder, unfinished)
    shutil.copyfile(mathjax, unfinished / "_static" / "mathjax.js")
    shutil.copytree(slides, unfinished / HTML, ignore=shutil.ignore_patterns("*.md", "pictures"))
    progress("links")
    broken = broken_links(unfinished)
    if broken:
        raise CourseKitError(f"{len(broken)} links of the book lead nowhere: {'; '.join(broken[:5])}.")
    shutil.rmtree(out, ignore_errors=True)
    unfinished.replace(out)
    shutil.rmtree(scratch)
    return book


def _refuse_unsolved(root: Path, runs: Path) -> None:
    missing = [lab.name for lab in find_labs(root) if not (runs / lab.name / f"{lab.name}.ipynb").is_file()]
    if missing:
        named = ", ".join(missing)
        raise CourseKitError(f"solutions are those of the newest run, and {runs} has no {named}: `make run` first.")


def sphinx_python(root: Path) -> Path:
    """Return the Python of an environment that has what `PINS` names; it is made when it is not there."""
    folder, pins = root / "build" / "book-env", root / PINS
    stamp, python = folder / "pins", folder / "bin" / "python"
    if stamp.is_file() and stamp.read_bytes() == pins.read_bytes():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    # `make env` installs uv beside this Python where the PATH has none.
    uv = shutil.which("uv", path=os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]))
    if uv is None:
        raise CourseKitError("the book's own environment is made by uv, which is not there: run `make env` again.")
    _call([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], root)
    _call([uv, "pip", "install", "--quiet", "--python", str(python), "--require-hashes", "-r", str(pins)], root)
    shutil.copyfile(pins, stamp)
    return python


def broken_links(site: Path) -> list[str]:
    """Return each link, picture, script and style of a page that is not in the site, as "page: target"."""
    broken = []
    for page in sorted(site.rglob("*.html")):
        if HTML in page.relative_to(site).parts:
            continue  # Marp's pages are measured when they are made
        for target in _targets(page):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            if not (page.parent / unquote(parts.path)).exists():
                broken.append(f"{page.relative_to(site)}: {target}")
    return broken


class _Links(HTMLParser):
    """Collects what a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.targets += [value for name, value in attrs if name in {"href", "src"} and value]


def _targets(page: Path) -> list[str]:
    parser = _Links()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser.targets


def _sphinx(python: Path, source: Path, out: Path) -> None:
    """Let Sphinx make the pages; a warning is a fault."""
    command = [str(python), "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q"]
    _call([*command, "-c", str(Path(__file__).parent), "-d", str(source / ".doctrees"), str(source), str(out)], source)


def _call(command: list[str], folder: Path) -> None:
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL
    )
    if ended.returncode:
        told = (ended.stderr or ended.stdout).strip().splitlines()
        raise CourseKitError("the book was not made: " + "; ".join(told[:8]))
