"""Measure the slides as a browser shows them, and find what overflows or cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workshop.slides.marp import chromium

MIN_TEXT_PX = 20  # of a slide's height of 720 this is 2.8 %, like text of 18 points on a screen of 64 cm
MIN_SMALL_PX = 14  # captions, footers, sources: for readers of the PDF
MIN_CONTRAST = 4.5  # WCAG 2.2, level AA
MIN_SCALE = 0.72  # of a figure drawn for a slide's full width: text of 16 points is then 15 pixels high
WIDTH_PX, HEIGHT_PX = 1280, 720
TIMEOUT_MS = 300_000  # for a busy machine; Playwright's default of 30 s suits a quiet one
MEASURE = Path(__file__).with_name("measure.js")
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--allow-file-access-from-files", "--force-color-profile=srgb"]


@contextmanager
def opened() -> Iterator[Any]:
    """Yield a page of a headless Chromium, which is closed afterwards.

    Nothing is fetched from the network: it opens only our own files.

    Raises:
        CourseKitError: there is no Chromium.
    """
    from playwright.sync_api import sync_playwright  # installed only if you build slides

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS, timeout=TIMEOUT_MS)
        try:
            page = browser.new_page(viewport={"width": WIDTH_PX, "height": HEIGHT_PX})
            page.set_default_timeout(TIMEOUT_MS)
            page.route("http*://**", lambda route: route.abort())
            yield page
        finally:
            browser.close()


def measure(page: Any, deck: Path) -> list[list[str]]:
    """Return a list of faults for each slide of a deck's bare page; it is empty if there are none."""
    page.goto(deck.as_uri())
    page.evaluate("() => document.fonts.ready")
    limits = [MIN_TEXT_PX, MIN_SMALL_PX, MIN_CONTRAST, MIN_SCALE]
    found: list[list[str]] = page.evaluate(f"limits => ({MEASURE.read_text(encoding='utf-8')})(limits)", limits)
    return found
