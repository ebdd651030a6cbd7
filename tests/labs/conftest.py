"""A real JupyterLab and a real browser for the tests of the labs."""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from ..ports import free_ports

# Without them Chromium starts helpers of its own when it likes, in the middle of a test that then seems to leave them.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_TIMEOUT_S, END_TIMEOUT_S = 900, 300


@pytest.fixture(scope="session")
def open_jupyterlab():
    """Return a context manager: `open_jupyterlab(folder, own, *options)` yields the address and token of JupyterLab."""
    return serve


@pytest.fixture(scope="session")
def open_browser():
    """Return a context manager that yields a headless Chromium."""
    return chromium


@contextlib.contextmanager
def serve(folder, own, *options):
    """Serve a folder on loopback, with settings and data in the folder `own`."""
    port, token = free_ports(), secrets.token_hex(16)
    # Settings of their own: neither those of whoever runs the tests, nor the file browser's last state.
    settings = {name: str(own / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    with (own / "jupyter.log").open("w") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
                *(f"--port={port}", f"--IdentityProvider.token={token}", f"--notebook-dir={folder}"),
                *("--LabApp.news_url=None", *options),
            ],
            env={**os.environ, **settings},
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
            process.wait(END_TIMEOUT_S)


def wait_until_answering(url, process):
    """Return once the server answers."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "JupyterLab ended at its start"
        try:
            with urllib.request.urlopen(url, timeout=60):  # noqa: S310  # our own server on loopback
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail("JupyterLab did not answer in time")


@contextlib.contextmanager
def chromium():
    """Start the system's Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS, timeout=300_000
        )
        yield browser
        browser.close()
