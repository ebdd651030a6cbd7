"""The two families of the lecture, from npm packages: pages load them, and figures draw with them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from coursekit.files import write_if_changed

PACKAGES = "slides/node_modules/@fontsource"
UNPACKED = "build/fonts"
VARIANTS = {
    "atkinson-hyperlegible-next": ("400-normal", "400-italic", "700-normal"),
    "jetbrains-mono": ("400-normal", "700-normal"),
}


def files(root: Path, end: str) -> Iterator[Path]:
    """Yield the files of all variants in a form, `woff` or `woff2`; they need not be there."""
    for family, variants in VARIANTS.items():
        for variant in variants:
            yield root / PACKAGES / family / "files" / f"{family}-latin-{variant}.{end}"


@cache
def add(root: Path) -> None:
    """Tell matplotlib of the families, once; where they were not installed, figures have matplotlib's own letters.

    Matplotlib reads no compressed fonts: they are unpacked first, those in `woff`, which needs no further package.
    """
    from fontTools.ttLib import TTFont  # as matplotlib, which brings it: only who draws waits for it
    from matplotlib.font_manager import fontManager  # as above

    for source in files(root, "woff"):
        if source.is_file():
            font = TTFont(source, recalcTimestamp=False)
            font.flavor = None
            font.save(plain := io.BytesIO())
            unpacked = root / UNPACKED / f"{source.stem}.ttf"
            write_if_changed(unpacked, plain.getvalue())
            fontManager.addfont(unpacked)
