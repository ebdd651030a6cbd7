"""The student's and the instructor's day on the demo's hub, in a real browser: two students at once."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest

from coursekit.building.build import build_sources
from coursekit.hub.demo_hub import DemoHub
from coursekit.labs import select_labs

from .people import Instructor, Student, answers_and_stubs

ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "build" / "screenshots" / "hub"
LAB = "02-horovod-sgd"
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
WRONG_SHARD = '''def shard(x, y):
    """Return this rank's share of the samples."""
    return x[: len(x) // hvd.size()], y[: len(y) // hvd.size()]
'''

pytestmark = [pytest.mark.needs("chromium", "bwrap", "unshare"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A demo's hub with all labs released, in a folder of its own."""
    with DemoHub(ROOT, free_ports(4), tmp_path_factory.mktemp("hub")).start() as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium."""
    from playwright.sync_api import sync_playwright

    SHOTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def day(hub, browser):
    """The day as it went: what people saw at each step."""
    tokens = {person.name: token for person, token in hub.tokens.items()}
    ada, grace = (Student(browser, hub.address, name, SHOTS) for name in ("ada", "grace"))
    seen = {}
    source = build_sources(ROOT, select_labs(ROOT, ["02"]))[LAB]
    answers, stubs = answers_and_stubs(source, ROOT / "labs" / LAB / f"{LAB}.ipynb")
    for student in (ada, grace):
        student.log_in(tokens[student.name])
        student.fetch(LAB)
        student.answer({**answers, "shard": WRONG_SHARD} if student is ada else answers, stubs)
        student.start_all()
    for student in (ada, grace):
        student.wait_until_run()
        student.save()
    seen["pictures"] = ada.pictures()
    seen["first validation"] = ada.validate()
    ada.shot("validation-fails")
    ada.close_dialog()
    ada.answer({"shard": answers["shard"]}, {"shard": "def shard(x, y):"})
    ada.save()
    seen["second validation"] = ada.validate()
    ada.shot("validation-passes")
    ada.close_dialog()
    for student in (ada, grace):
        student.submit(LAB)
    ada.shot("submitted")

    instructor = Instructor(browser, hub.address, "instructor", SHOTS)
    instructor.log_in(tokens["instructor"])
    instructor.open_course()
    seen["handed in"] = instructor.collect(LAB)
    seen["graded"] = instructor.autograde(LAB)
    seen["gradebook"] = instructor.gradebook(LAB)
    instructor.release_feedback(LAB)
    seen["feedback"] = ada.feedback(LAB)
    return seen


def free_ports(num_ports):
    """Return the first of so many free ports in a row."""
    for first in range(20_000, 30_000, num_ports):
        probes = [socket.socket() for _ in range(num_ports)]
        try:
            for i, probe in enumerate(probes):
                probe.bind(("127.0.0.1", first + i))
        except OSError:
            continue
        else:
            return first
        finally:
            for probe in probes:
                probe.close()
    pytest.fail("no free ports")


def test_day(day):
    print(day)
