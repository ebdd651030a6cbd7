"""Marp, an npm package, turns filled decks into pages and PDF; our theme and its fonts lie beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.nodejs import node
from coursekit.processes import MARK, end_marked

if TYPE_CHECKING:
    from collections.abc import Sequence

MODULES = "slides/node_modules"
MARP = f"{MODULES}/@marp-team/marp-cli/marp-cli.js"
THEME = "slides/theme.css"
# As the theme names them: font package, and its files, in the letters that the decks use.
FONTS = {
    "atkinson-hyperlegible-next": ("400-normal", "400-italic", "700-normal"),
    "jetbrains-mono": ("400-normal", "700-normal"),
}
TIMEOUT_S = 300


def lay_out(root: Path, folder: Path) -> None:
    """Put the theme and its fonts where the pages look for them.

    Raises:
        CourseKitError: they were not installed.
    """
    for family, variants in FONTS.items():
        for variant in variants:
            name = f"{family}-latin-{variant}.woff2"
            source = root / MODULES / "@fontsource" / family / "files" / name
            _refuse_missing(source, root)
            (folder / "fonts").mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / "fonts" / name)
    shutil.copyfile(root / THEME, folder / "theme.css")


def to_html(root: Path, file: Path, template: str = "bespoke") -> Path:
    """Make a page of a deck beside it: `bespoke` to present from, with notes, or `bare`, all slides in a column.

    Raises:
        CourseKitError: Marp is not there, or fails.
    """
    end = ".html" if template == "bespoke" else f".{template}.html"
    return _convert(root, file, file.with_suffix(end), ["--template", template])


def to_pdf(root: Path, file: Path) -> Path:
    """Make a PDF of a deck beside it, with its notes as annotations and its headings as outline.

    Raises:
        CourseKitError: Marp or Chromium is not there, or fails.
    """
    options = ["--pdf", "--pdf-notes", "--pdf-outlines", "--allow-local-files", "--browser-path", chromium()]
    return _convert(root, file, file.with_suffix(".pdf"), options)


def chromium() -> str:
    """Return the path of Chromium.

    Raises:
        CourseKitError: there is none.
    """
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        raise CourseKitError("slides are measured and printed by Chromium, which is missing: apt install chromium.")
    return found


def _convert(root: Path, file: Path, output: Path, options: Sequence[str]) -> Path:
    script = root / MARP
    _refuse_missing(script, root)
    command = [node(), str(script), str(file), "--html", "--theme-set", str(file.with_name("theme.css")), *options]
    returncode, word = _run([*command, "--output", str(output)], root)
    if returncode or not output.is_file():
        raise CourseKitError(f"Marp could not make {output.name}: {word or 'no word why'}")
    return output


def _run(command: list[str], root: Path) -> tuple[int, str]:
    """Return how Marp ended and what it said; neither its browser nor that browser's profile outlives it."""
    # A short name: Chromium puts a socket there, whose path may have 107 letters.
    with tempfile.TemporaryDirectory(prefix="marp-") as folder:
        environment = {**os.environ, "NO_COLOR": "1", "TMPDIR": folder, MARK: folder}
        try:
            ended = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
                cwd=root,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            return 1, f"it was not done after {TIMEOUT_S} s"
        finally:
            end_marked(Path(folder))
    return ended.returncode, " ".join(ended.stderr.split())


def _refuse_missing(path: Path, root: Path) -> None:
    if not path.is_file():
        shown = path.relative_to(root).as_posix()
        raise CourseKitError(f"{shown} is missing: `make slides` installs it (npm ci in slides/).")
