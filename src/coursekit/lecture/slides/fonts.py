"""The two families of the lecture, from npm packages: pages load them, and figures draw with them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


@lru_cache(maxsize=None)
def add(root: Path) -> None:
    """Tell matplotlib of the families, once; where they were not installed, figures have matplotlib's own letters.

    Matplotlib reads no compressed fonts: they are unpacked first, those in `woff`, which needs no further package.
    """
    from fontTools.ttLib import TTFont  # noqa: PLC0415  # as matplotlib, which brings it: only who draws waits for it
    from matplotlib.font_manager import fontManager  # noqa: PLC0415  # as above

    folder = root / UNPACKED
    folder.mkdir(parents=True, exist_ok=True)
    for source in files(root, "woff"):
        if source.is_file():
            font = TTFont(source)
            font.flavor = None
            unpacked = folder / f"{source.stem}.ttf"
            font.save(unpacked)
            fontManager.addfont(unpacked)
