"""A demo's hub, and a browser, that the tests of a module share."""

import os
import tempfile
import time
from pathlib import Path

import pytest

from coursekit.jupyter.hub.demo_hub import NUM_PORTS, demo_hub

from ...labs.conftest import chromium
from ...ports import free_ports

ROOT = Path(__file__).parents[3]
SHOTS = ROOT / "build" / "screenshots"  # pictures of the pages, for people to look at


def until(is_so, limit_s=600):
    """Wait until something is so, and return what was then said of it."""
    deadline_s = time.monotonic() + limit_s
    while not (said := is_so()):
        assert time.monotonic() < deadline_s
        time.sleep(0.2)
    return said


@pytest.fixture(scope="module")
def hub():
    """A demo's hub with all labs released, in a folder of its own.

    It is not among pytest's: every pytest that starts on this machine closes the folder around them to other accounts.
    """
    if os.geteuid() != 0:
        pytest.skip("needs root: the demo makes accounts")
    with (
        tempfile.TemporaryDirectory(prefix="coursekit-hub-") as folder,
        demo_hub(ROOT, free_ports(NUM_PORTS), Path(folder)) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium."""
    with chromium() as browser:
        yield browser
