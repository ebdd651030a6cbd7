"""The released labs in a real JupyterLab, in a real browser, as a student meets them."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ANSWER = """def rank_facts():
    hvd.init()
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}"""
START_TIMEOUT_S = 90

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(400)]


@pytest.fixture
def jupyterlab(tmp_path):
    """Start JupyterLab on loopback over a copy of labs/; yield its address and token."""
    folder = tmp_path
    shutil.copytree(ROOT / "labs", folder / "labs")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    log = (folder / "jupyter.log").open("w")
    # Settings of their own: neither those of whoever runs the tests, nor the file browser's last state.
    own = {name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
            *(f"--port={port}", f"--IdentityProvider.token={token}", f"--notebook-dir={folder / 'labs'}"),
            "--LabApp.news_url=None",
        ],
        env={**os.environ, **own},
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_answering(f"{address}/api?token={token}", process)
        yield address, token
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        log.close()


def wait_until_answering(url, process):
    """Return once the server answers."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "JupyterLab ended at its start"
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310  # our own server on loopback
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail("JupyterLab did not answer in time")


@pytest.fixture
def page(jupyterlab):
    """Open lab 02 in headless Chromium."""
    from playwright.sync_api import sync_playwright

    address, token = jupyterlab
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1300, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(f"{address}/lab/tree/02-horovod-sgd/02-horovod-sgd.ipynb?token={token}")
        page.wait_for_selector(".jp-RenderedMarkdown h1:has-text('Lab 02: SGD on several ranks')")
        page.wait_for_selector(".jp-NotebookPanel-toolbar [data-status=idle]")
        yield page
        browser.close()


def cell(page, text):
    """Return the first code cell whose source contains this text."""
    return page.locator(".jp-CodeCell", has_text=text).first


def run_cell(page, text):
    """Run one cell as a student does, with Shift+Enter, and return what it shows when it is done."""
    chosen = cell(page, text)
    chosen.scroll_into_view_if_needed()
    chosen.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(
        "element => /\\[\\d+\\]/.test(element.querySelector('.jp-InputPrompt').innerText)",
        arg=chosen.element_handle(),
        timeout=90_000,
    )
    return chosen.locator(".jp-OutputArea").inner_text() if chosen.locator(".jp-OutputArea-child").count() else ""


def screenshot(page, name):
    """Keep a picture of the page for people to look at."""
    folder = ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png")


def test_student_works_through_the_start_of_lab_02(page):
    """A student runs the first cells, sees the check name what is missing, answers, sees it pass, and unfolds a hint."""
    screenshot(page, "lab02-top")
    run_cell(page, "num_ranks = 2")
    run_cell(page, "ranks.warm_up()")
    hello = run_cell(page, "def hello():")

    assert "[0] hello from process" in hello
    assert "[1] hello from process" in hello

    run_cell(page, "def rank_facts():")
    unanswered = run_cell(page, 'check("rank facts"')

    assert "rank facts: not answered yet → section 1" in unanswered

    cell(page, "def rank_facts():").locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(ANSWER)
    run_cell(page, "def rank_facts():")
    answered = run_cell(page, 'check("rank facts"')
    screenshot(page, "lab02-first-exercise")

    assert answered.strip() == "✓ rank facts"

    hint = page.locator("details", has_text="set_visible_devices").first
    hint.scroll_into_view_if_needed()

    assert not hint.locator("p").first.is_visible()

    hint.locator("summary").click()
    screenshot(page, "lab02-hint")

    assert hint.locator("p").first.is_visible()
