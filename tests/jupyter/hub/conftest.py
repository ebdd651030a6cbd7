"""A demo's hub, and a browser, that the tests of a module share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from coursekit.jupyter.hub.demo_hub import NUM_PORTS, DemoHub

from ...ports import free_ports

ROOT = Path(__file__).parents[3]
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A demo's hub with all labs released, in a folder of its own."""
    if os.geteuid() != 0:
        pytest.skip("needs root: the demo makes accounts")
    with DemoHub(ROOT, free_ports(NUM_PORTS), tmp_path_factory.mktemp("hub")).start() as running:
        yield running


@pytest.fixture(scope="module")
def tokens(hub):
    """The token of everybody who logs in, by name."""
    return {person.name: token for person, token in hub.tokens.items()}


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS, timeout=300_000
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def shots():
    """The folder that keeps pictures of the pages, for people to look at."""
    folder = ROOT / "build" / "screenshots" / "hub"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
