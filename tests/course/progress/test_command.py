"""`coursekit class` as a command: its page, its mistakes, and watching until Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from coursekit.cli.class_ import class_
from coursekit.errors import CourseKitError

from .conftest import NAME, OTHER


def invoke(course, *words):
    """Run the command on the course; its output, or the error."""
    result = CliRunner().invoke(class_, [*words, "--course", str(course.folder)], catch_exceptions=True)
    if result.exception:
        raise result.exception
    return result.output


def test_it_shows_one_lab_or_all(course):
    """Without a page nothing is written."""
    assert OTHER in invoke(course)
    one = invoke(course, "01")
    assert NAME in one
    assert OTHER not in one
    assert not (course.folder / "reports").exists()


def test_the_page_lies_with_the_reports_of_grading(course, tmp_path):
    """Named as they are, or as one says."""
    output = invoke(course, "01", "--page")
    (page,) = (course.folder / "reports").iterdir()
    assert page.name.startswith("class-20")
    assert [path.stat().st_mode & 0o777 for path in (page.parent, page)] == [0o700, 0o600]
    assert f"page: {page}" in output
    invoke(course, "--page", str(tmp_path / "mine.html"), "--anonymous")
    assert "Numbers stand for students" in (tmp_path / "mine.html").read_text()


def test_without_a_browser_it_says_so(course, monkeypatch):
    """The page is there all the same; a stand-in, as which browsers Python finds is the machine's."""
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    result = CliRunner().invoke(class_, ["--open", "--course", str(course.folder)])
    assert "no browser could be started here: open the page yourself" in result.output
    assert len(list((course.folder / "reports").iterdir())) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--page", "02"], "--page writes HTML: name a file that ends in .html, not '02', or none."),
        (["--page", "/proc/no/class.html"], "/proc/no/class.html cannot be written"),
        (["--homes", "/home"], "--homes is a path with {student} in it"),
        (["07"], "there is no lab '07'"),
    ],
)
def test_mistakes_are_one_sentence(course, words, sentence):
    """What was wrong, and what to do."""
    with pytest.raises(CourseKitError) as caught:
        invoke(course, *words)
    assert sentence in str(caught.value)


def test_watching_ends_with_ctrl_c(course, tmp_path):
    """It shows the class, opens the page in the browser that $BROWSER names, waits, and ends well."""
    browser, opened, page = tmp_path / "browser", tmp_path / "opened", tmp_path / "class.html"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o700)
    words = ["--watch", "--open", "--page", str(page), "--course", str(course.folder)]
    watch = [sys.executable, "-m", "coursekit", "class", *words]
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    with subprocess.Popen(watch, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        deadline = time.monotonic() + 300
        while not opened.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, b"")
    assert b"dl: 2 students" in out
    assert opened.read_text() == f"{page.as_uri()}\n"
    assert page.read_text().endswith("</html>")
