"""Turn filled-in decks into HTML and PDF with Marp, an npm package; our theme and its fonts are copied next to them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.paths import node
from coursekit.processes import MARK, end_marked
from workshop.slides import fonts

MODULES = "slides/node_modules"
MARP = f"{MODULES}/@marp-team/marp-cli/marp-cli.js"
THEME = "slides/theme.css"
TIMEOUT_S = 300


def lay_out(root: Path, folder: Path) -> None:
    """Put the theme and its fonts where the pages look for them.

    Raises:
        CourseKitError: they are not installed.
    """
    for source in fonts.files(root, "woff2"):
        _refuse_missing(source, root)
        (folder / "fonts").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / "fonts" / source.name)
    shutil.copyfile(root / THEME, folder / "theme.css")


def to_html(root: Path, files: Sequence[Path], template: str = "bespoke") -> list[Path]:
    """Make a page next to each deck: `bespoke` to present from, with notes, or `bare`, with all slides in a column.

    Raises:
        CourseKitError: Marp is missing or fails.
    """
    return _convert(root, files, ".html", ["--template", template])


def to_pdf(root: Path, files: Sequence[Path]) -> list[Path]:
    """Make a PDF next to each deck, with its notes as annotations and its headings as the outline.

    Raises:
        CourseKitError: Marp or Chromium is missing or fails.
    """
    options = ["--pdf", "--pdf-notes", "--pdf-outlines", "--allow-local-files", "--browser-path", chromium()]
    return _convert(root, files, ".pdf", options)


def chromium() -> str:
    """Return the path of Chromium.

    Raises:
        CourseKitError: no browser was found.
    """
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        raise CourseKitError(
            "Chromium, which measures and prints the slides, is missing: apt install chromium.", "chromium.missing"
        )
    return found


def _convert(root: Path, files: Sequence[Path], end: str, options: Sequence[str]) -> list[Path]:
    """Convert all decks in one run: starting Node.js and a browser takes longer than converting a deck."""
    script = root / MARP
    _refuse_missing(script, root)
    made = [file.with_suffix(end) for file in files]
    for path in made:
        path.unlink(missing_ok=True)  # so that every file found afterwards is new
    theme = str(files[0].with_name("theme.css"))
    command = [node(), str(script), *map(str, files), "--html", "--theme-set", theme, *options]
    returncode, word = _run(command, root)
    missing = [path.name for path in made if not path.is_file()]
    if returncode or missing:
        raise CourseKitError(
            f"Marp could not make {', '.join(missing) or 'the decks'}: {word or 'it gave no reason'}", "marp.failed"
        )
    return made


def _run(command: list[str], root: Path) -> tuple[int, str]:
    """Return Marp's exit status and error output; neither its browser nor the browser's profile outlives it."""
    # A short name: Chromium puts a socket there, whose path may have at most 107 letters.
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
            return 1, f"it had not finished after {TIMEOUT_S} s"
        finally:
            end_marked(Path(folder))
    return ended.returncode, " ".join(ended.stderr.split())


def _refuse_missing(path: Path, root: Path) -> None:
    if not path.is_file():
        shown = path.relative_to(root).as_posix()
        raise CourseKitError(f"{shown} is missing: `make slides` installs it (npm ci in slides/).", "marp.missing")
