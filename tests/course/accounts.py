"""Accounts of a home of their own, whose lines a test runs: shells, and Jupyter servers with formgrader."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from contextlib import contextmanager, suppress

import pytest

from ..ports import free_ports

LINE_S, ANSWER_S = 1800, 300
TOKEN = "a-test"  # noqa: S105  # of a server on the loopback interface that lives for one test


class Account:
    """A shell with a home of its own, in a folder."""

    def __init__(self, home, folder):
        self.home, self.folder = home, folder
        (home / ".jupyter").mkdir(parents=True)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "COURSEKIT"))}
        self.environ = {**kept, "HOME": str(home)}

    def start(self, line, **options):
        """Start a line, and return its process."""
        return subprocess.Popen(["bash", "-c", line], cwd=self.folder, env=self.environ, **options)

    def run(self, line):
        """Run a line, and return what it wrote."""
        with self.start(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            said, _ = process.communicate(timeout=LINE_S)
        assert process.returncode == 0, f"{line}\n{said}"
        return said

    @contextmanager
    def formgrader(self, line):
        """Run a line that starts a Jupyter server; give a function that asks its formgrader, and end the server."""
        port = free_ports()
        settings = {"open_browser": False, "allow_root": True, "ip": "127.0.0.1", "port": port}
        config = {"ServerApp": settings, "IdentityProvider": {"token": TOKEN}}
        (self.home / ".jupyter" / "jupyter_server_config.json").write_text(json.dumps(config))
        with (self.home / "log").open("wb") as log:
            process = self.start(line, stdout=log, stderr=log, start_new_session=True)

        def ask(path, data=None):
            """Return the text of an answer, once there is one; with data it is a PUT."""
            request = urllib.request.Request(  # http
                f"http://127.0.0.1:{port}/formgrader/{path}",
                data=None if data is None else json.dumps(data).encode(),
                headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
                method="GET" if data is None else "PUT",
            )
            deadline_s = time.monotonic() + LINE_S
            while time.monotonic() < deadline_s:
                assert process.poll() is None, (self.home / "log").read_text()
                with suppress(OSError), urllib.request.urlopen(request, timeout=ANSWER_S) as answer:  # noqa: S310  # http
                    return answer.read().decode()
                time.sleep(0.2)
            return pytest.fail((self.home / "log").read_text())

        try:
            yield ask
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(ANSWER_S)
