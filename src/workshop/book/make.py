"""Build the book: its sources, a separate environment with Sphinx, and the site."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

from coursekit.errors import CourseKitError
from workshop.book.sources import HTML, Book
from workshop.slides.deck import find_decks

PINS = "tools/book-requirements.lock"
MATHJAX = "slides/node_modules/mathjax-full/es5/tex-svg-full.js"
TIMEOUT_S = 600


def make_book(
    root: Path,
    build: Path,
    out: Path,
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Build the site in `out`, completely or not at all.

    Args:
        root: the checkout.
        build: its build folder, with `slides/` and the newest run in `runs/latest/`.
        out: the folder of the site; an older site is replaced only when the new one is complete.
        progress: called with a few words before each step.

    Raises:
        CourseKitError: slides are missing, or Sphinx found a fault, such as a broken link.
    """
    slides, mathjax = build / "slides", root / MATHJAX
    missing = [deck.path.stem for deck in find_decks(root) if not (slides / f"{deck.path.stem}.html").is_file()]
    if missing or not mathjax.is_file():
        raise CourseKitError(
            f"{slides} is incomplete ({', '.join(missing) or MATHJAX}): run `make slides` first.", "book.no-decks"
        )
    progress("Sphinx")
    python = sphinx_python(root)
    progress("pages")
    book = Book(root, build / "book-source", build / "runs" / "latest")
    book.gather()
    unfinished = out.with_name(f".{out.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    progress("the site")
    sphinx = [str(python), "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-c", str(Path(__file__).parent)]
    _call([*sphinx, "-d", str(book.folder / ".doctrees"), str(book.folder), str(unfinished)], book.folder)
    shutil.copyfile(mathjax, unfinished / "_static" / "mathjax.js")
    shutil.copytree(slides, unfinished / HTML, ignore=shutil.ignore_patterns("*.md"))
    shutil.rmtree(out, ignore_errors=True)
    unfinished.replace(out)


def sphinx_python(root: Path) -> Path:
    """Return the Python of an environment with the packages of `PINS`; the environment is made if necessary."""
    folder, pins = root / "build" / "book-env", root / PINS
    stamp, python = folder / "pins", folder / "bin" / "python"
    if stamp.is_file() and stamp.read_bytes() == pins.read_bytes():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    # `make env` installs uv next to this Python if the PATH has none.
    uv = shutil.which("uv", path=os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]))
    if uv is None:
        raise CourseKitError("uv, which makes the book's environment, is missing: run `make env` again.", "book.no-uv")
    _call([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], root)
    _call([uv, "pip", "install", "--quiet", "--python", str(python), "--require-hashes", "-r", str(pins)], root)
    shutil.copyfile(pins, stamp)
    return python


def _call(command: list[str], folder: Path) -> None:
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL
    )
    if ended.returncode:
        said = (ended.stderr or ended.stdout).strip().splitlines()
        raise CourseKitError("the book could not be built: " + "; ".join(said[:8]), "book.failed")
