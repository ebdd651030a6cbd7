"""The lecture's two font families, from npm packages: pages load them, and figures are drawn with them."""

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
    """Yield the files of all variants in one format, `woff` or `woff2`; they may be missing."""
    for family, variants in VARIANTS.items():
        for variant in variants:
            yield root / PACKAGES / family / "files" / f"{family}-latin-{variant}.{end}"


@cache
def add(root: Path) -> None:
    """Register the families with matplotlib, once; if they are not installed, figures use matplotlib's own font.

    Matplotlib cannot read compressed fonts, so the `woff` files are unpacked first; this needs no further package.
    """
    from fontTools.ttLib import TTFont  # comes with matplotlib; only drawing has to wait for these imports
    from matplotlib.font_manager import fontManager  # as above

    for source in files(root, "woff"):
        if source.is_file():
            font = TTFont(source, recalcTimestamp=False)
            font.flavor = None
            font.save(plain := io.BytesIO())
            unpacked = root / UNPACKED / f"{source.stem}.ttf"
            write_if_changed(unpacked, plain.getvalue())
            fontManager.addfont(unpacked)
