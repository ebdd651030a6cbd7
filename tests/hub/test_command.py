"""`coursekit hub`: it says what to open, and leaves nothing, however it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

from coursekit.errors import CourseKitError
from coursekit.hub.demo_hub import NUM_PORTS, DemoHub

from .conftest import ROOT, free_ports

START_TIMEOUT_S = 120
END_TIMEOUT_S = 30

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the demo makes accounts")


@pytest.mark.needs("unshare")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_signal_ends_everything(tmp_path, number, status):
    """It tells the address and a token for each person; after Ctrl-C, and even after SIGKILL, no process is left."""
    port, log = free_ports(NUM_PORTS), tmp_path / "log"
    command = [sys.executable, "-m", "coursekit", "hub", "--port", str(port), "--state", str(tmp_path / "hub")]
    with log.open("w") as output, subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output) as hub:
        try:
            _wait_for(
                lambda: "Ctrl-C here ends everything" in log.read_text() or hub.poll() is not None, START_TIMEOUT_S
            )
            running = psutil.Process(hub.pid).children(recursive=True)
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/hub/login", timeout=30) as page:
                title = re.search(r"<title>\s*(\w+)\s*</title>", page.read().decode())[1]
        finally:
            hub.send_signal(number)
        assert hub.wait(END_TIMEOUT_S) == status
    said = log.read_text()
    assert title == "JupyterHub"
    assert f"Open  http://127.0.0.1:{port}" in said
    assert re.findall(r"^ (\w+) +[\w-]{16} ", said, re.MULTILINE) == ["instructor", "ada", "alan", "grace"]
    assert len(running) >= len(("unshare", "jupyterhub", "its proxy", "formgrader"))
    assert psutil.wait_procs(running, timeout=END_TIMEOUT_S)[1] == []
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


def test_a_port_in_use_is_named(tmp_path):
    """One sentence says which port, and how to choose others."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CourseKitError, match=rf"^port {port} is in use, .*choose others with --port"):
            DemoHub(ROOT, port, tmp_path).start()


def test_an_ordinary_user_is_told_what_to_do(tmp_path):
    """Accounts need root; who is not gets a sentence."""
    os.seteuid(65534)
    try:
        with pytest.raises(CourseKitError, match="must be root: use sudo"):
            DemoHub(ROOT, 8000, tmp_path).start()
    finally:
        os.seteuid(0)


def _wait_for(is_so, timeout_s):
    deadline_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.2)
