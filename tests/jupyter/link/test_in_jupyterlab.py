"""The link, followed in a real browser: from a git server on loopback into a student's JupyterLab."""

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
from contextlib import contextmanager
from pathlib import Path

import pytest

from coursekit.jupyter.link import pull_link
from coursekit.labs.build.students_copy import students_files, write_copy

from ...ports import free_ports

ROOT = Path(__file__).parents[3]
LAB = "02-horovod-sgd"
NOTEBOOK = f"labs/{LAB}/{LAB}.ipynb"
CHROMIUM_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
# A hub sends these on to the student's own server; here, that server is at this address itself.
REDIRECT = "/hub/user-redirect/"
START_TIMEOUT_S, END_TIMEOUT_S = 900, 300
OWN_WORDS = "# what I wrote myself"

pytestmark = [pytest.mark.needs("chromium", "git")]


class GitServer:
    """The students' repository on loopback, and a teacher's clone of it."""

    def __init__(self, folder, address):
        self.clone = folder / "teacher"
        self.address = address

    def publish(self, files):
        """Write files and push them."""
        for name, text in files.items():
            path = self.clone / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git("add", "--all", folder=self.clone)
        git("commit", "--quiet", "--message=course", folder=self.clone)
        git("push", "--quiet", "origin", "main", folder=self.clone)


def git(*words, folder):
    """Run git with no settings but its own."""
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    person = ("-c", "user.name=teacher", "-c", "user.email=teacher@example.org")
    subprocess.run(["git", *person, *words], cwd=folder, env={**os.environ, **own}, check=True, timeout=900)


@contextmanager
def program(command, log, **variables):
    """Run a program for a while, in a session of its own."""
    with log.open("w") as said:
        process = subprocess.Popen(
            command, env={**os.environ, **variables}, stdout=said, stderr=said, start_new_session=True
        )
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(END_TIMEOUT_S)


def wait_until(answers, process):
    """Return once a call answers without an OSError."""
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline_s:
        assert process.poll() is None, "the server ended at its start"
        try:
            answers()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server did not answer in time")


@pytest.fixture
def git_server(tmp_path):
    """Serve a bare repository that holds the students' copy, as a public git server would."""
    served, port = tmp_path / "served", free_ports()
    git("init", "--quiet", "--bare", "--initial-branch=main", served / "my course.git", folder=tmp_path)
    git("clone", "--quiet", served / "my course.git", tmp_path / "teacher", folder=tmp_path)
    server = GitServer(tmp_path, f"git://127.0.0.1:{port}/my%20course.git")
    git("checkout", "--quiet", "-B", "main", folder=server.clone)
    write_copy(ROOT, students_files(ROOT), server.clone)
    server.publish({})
    command = ["git", "daemon", "--listen=127.0.0.1", f"--port={port}", f"--base-path={served}", "--export-all"]
    with program(command, tmp_path / "git.log") as process:
        wait_until(lambda: socket.create_connection(("127.0.0.1", port), 60).close(), process)
        yield server


@pytest.fixture
def student(tmp_path):
    """Start a student's JupyterLab on loopback where a hub would lead; yield its address, token and home folder."""
    home, port, token = tmp_path / "home", free_ports(), secrets.token_hex(16)
    home.mkdir()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *(f"--ServerApp.base_url={REDIRECT}", f"--ServerApp.root_dir={home}", "--LabApp.news_url=None"),
    ]
    variables = {
        name: str(tmp_path / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
    }
    address = f"http://127.0.0.1:{port}"
    api = f"{address}{REDIRECT}api"
    with program(command, tmp_path / "lab.log", HOME=str(home), JUPYTER_TOKEN=token, **variables) as process:
        wait_until(lambda: urllib.request.urlopen(api, timeout=60).close(), process)  # noqa: S310  # our own server
        yield address, token, home


@pytest.fixture
def browser(student):
    """Headless Chromium in which the student is logged in."""
    from playwright.sync_api import sync_playwright

    address, token, _ = student
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS, timeout=300_000
        )
        context = chromium.new_context(viewport={"width": 1300, "height": 1000})
        context.set_default_timeout(300_000)
        page = context.new_page()
        page.goto(f"{address}{REDIRECT}api/status?token={token}")
        page.close()
        yield context
        chromium.close()


def follow(browser, link):
    """Open the link in a tab of its own, and return it once the notebook of lab 02 is shown."""
    page = browser.new_page()
    page.goto(link)
    page.wait_for_selector(".jp-RenderedMarkdown h1:has-text('Lab 02: SGD on several ranks')")
    return page


def test_link_fetches_opens_and_keeps_what_a_student_wrote(git_server, student, browser):
    """The first visit fetches and opens the lab; after a push, the second brings what is new and keeps own changes."""
    address, _, home = student
    own = home / "my-course"
    published = sorted(path.name for path in (git_server.clone / "labs").iterdir())
    link = pull_link(address, git_server.address, "main", LAB)

    page = follow(browser, link)

    assert page.url.split("?")[0] == f"{address}{REDIRECT}lab/tree/my-course/{NOTEBOOK}"
    assert (own / NOTEBOOK).read_bytes() == (ROOT / NOTEBOOK).read_bytes()
    assert sorted(path.name for path in (own / "labs").iterdir()) == published

    write_into_answer(page)
    deadline_s = time.monotonic() + 300
    while OWN_WORDS not in (own / NOTEBOOK).read_text() and time.monotonic() < deadline_s:
        time.sleep(0.1)
    page.close()
    taught = (ROOT / NOTEBOOK).read_text().replace("SGD on several ranks", "SGD on several ranks, mended", 1)
    git_server.publish({"labs/notes/today.md": "# Today", NOTEBOOK: taught})

    page = follow(browser, link)

    page.wait_for_selector(f".jp-CodeCell :text('{OWN_WORDS}')")
    page.wait_for_selector(".jp-RenderedMarkdown h1:has-text('SGD on several ranks, mended')")
    assert (own / "labs" / "notes" / "today.md").read_text() == "# Today"
    page.goto(pull_link(address, git_server.address))
    page.wait_for_selector(".jp-DirListing-itemText:has-text('notes')")
    assert sorted(page.locator(".jp-DirListing-itemText").all_inner_texts()) == sorted([*published, "notes"])
    screenshot(page)


def write_into_answer(page):
    """Write a line at the end of the first answer, and save, as a student does."""
    answer = page.locator(".jp-CodeCell", has_text="def rank_facts():").first
    answer.scroll_into_view_if_needed()
    answer.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(f"\n{OWN_WORDS}")
    page.keyboard.press("Control+S")


def screenshot(page):
    """Keep a picture of the page for people to look at."""
    folder = ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / "link-labs.png")
