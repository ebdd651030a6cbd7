"""Manual points: nbgrader's own formgrader, in a real Jupyter server, on what the judge recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress

import pytest

from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.record import record
from coursekit.course.submitted import read_hand_in

from ..ports import free_ports
from .conftest import NAME, RIGHT, verdict

START_S, ANSWER_S = 900, 300
TOKEN = "formgrader"  # noqa: S105 - of a server on the loopback interface that lives for one test


class Server:
    """A Jupyter server with formgrader in a course folder."""

    def __init__(self, folder, home):
        port = free_ports()
        self.url = f"http://127.0.0.1:{port}"
        kept = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
        extensions = {"nbgrader.server_extensions.formgrader": True}
        words = [
            "--no-browser",
            "--allow-root",
            f"--port={port}",
            "--ip=127.0.0.1",
            f"--IdentityProvider.token={TOKEN}",
        ]
        self.log = home / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyter", "server", *words, f"--ServerApp.jpserver_extensions={extensions}"],
                cwd=folder,
                env={**kept, "HOME": str(home)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait(self):
        """Wait until it answers."""
        deadline_s = time.monotonic() + START_S
        while time.monotonic() < deadline_s:
            assert self.process.poll() is None, self.log.read_text()
            with suppress(OSError):
                return self.ask("/api/status")
            time.sleep(0.2)
        pytest.fail(self.log.read_text())

    def ask(self, path, data=None):
        """Send a request, and return the text of the answer; PUT when there are data."""
        request = urllib.request.Request(  # noqa: S310 - always http
            f"{self.url}{path}",
            data=None if data is None else json.dumps(data).encode(),
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
            method="GET" if data is None else "PUT",
        )
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:  # noqa: S310 - always http
            return answer.read().decode()

    def stop(self):
        """End it."""
        self.process.terminate()
        self.process.wait(ANSWER_S)


@pytest.fixture
def server(course, tmp_path):
    """A running server."""
    (tmp_path / "home").mkdir()
    server = Server(course.folder, tmp_path / "home")
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def test_a_person_grades_what_only_a_person_can(course, hand_in, server):
    """Formgrader lists the hand-in, shows answer and message without anything that runs, and takes the points."""
    answers = {**RIGHT, "explain": "Taken in turns. <script>alert(1)</script> [a](javascript:alert(2))"}
    hand_in(answers=answers)
    collect(course, NAME)
    message = "AssertionError: the shards of two ranks must be disjoint"
    record(course, verdict(points=(0, 1), messages=(message, "")), read_hand_in(course, NAME, "ada"))

    (submission,) = (
        one for one in json.loads(server.ask(f"/formgrader/api/submissions/{NAME}")) if one["student"] == "ada"
    )
    assert (submission["score"], submission["max_score"], submission["needs_manual_grade"]) == (1, 7, True)
    (notebook,) = json.loads(server.ask(f"/formgrader/api/submitted_notebooks/{NAME}/{NAME}"))
    page = server.ask(f"/formgrader/submissions/{notebook['id']}/?index=0")
    assert "Taken in turns." in page
    assert "the shards of two ranks must be disjoint" in page
    assert "<script>alert(1)</script>" not in page
    assert "javascript:alert(2)" not in page

    grades = {
        one["name"]: one for one in json.loads(server.ask(f"/formgrader/api/grades?submission_id={notebook['id']}"))
    }
    server.ask(f"/formgrader/api/grade/{grades['explain']['id']}", {"manual_score": 3})

    (ada,) = (one for one in read_grades(course).students if one.id == "ada")
    assert (dict(ada.points), ada.num_waiting) == ({NAME: 4.0}, 0)
