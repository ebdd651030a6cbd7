"""Recorded results say what made them; the committed ones, and published figures, are of their sources."""

import json
import subprocess
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.run.results import Facts
from workshop.slides.results import checksum, load, record, recorder_names

ROOT = Path(__file__).parents[3]
FACTS = Facts("host", "some CPU", 2, {"python": "3.11"}, commit="abc", dirty=False)
PNG = b"\x89PNG\r\n"
RECORDER = """
def record():
    return {"sum": 1 + 2, "pictures": {"page": b"\\x89PNG\\r\\n"}}
"""


def test_a_result_says_how_it_was_made(lecture):
    """Command, commit, machine, date and the recorder's fingerprint stand beside the data; pictures are files."""
    script = lecture.write("recorders/try.py", RECORDER)
    path = record(lecture.root, "try", FACTS)
    recorded = json.loads(path.read_text())["recorded"]

    assert recorded["command"] == "workshop record try"
    assert recorded["recorder"] == checksum(script)
    assert (recorded["machine"], recorded["commit"], recorded["dirty"]) == ("2 cores of some CPU", "abc", False)
    assert {"date", "versions", "seconds"} < set(recorded)
    assert load(lecture.root, "try").data == {"sum": 3, "pictures": {"page": path.with_name("try-page.png")}}
    assert path.with_name("try-page.png").read_bytes() == PNG


def test_a_failed_run_leaves_the_older_result(lecture):
    """A recorder that fails changes nothing."""
    lecture.write("recorders/try.py", RECORDER)
    path = record(lecture.root, "try", FACTS)
    before = path.read_bytes()
    lecture.write("recorders/try.py", "def record():\n    return {'sum': 1 / 0}\n")

    with pytest.raises(ZeroDivisionError):
        record(lecture.root, "try", FACTS)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["{<<<<<<< HEAD", "[]", "null", '{"recorded": {}, "data": {}}'])
def test_a_damaged_result_is_named(lecture, text):
    """A file that a merge has left in pieces, or of another form, is one sentence with what to do."""
    lecture.write("recorders/try.py", RECORDER)
    lecture.write("results/try.json", text)

    with pytest.raises(CourseKitError, match=r"try.json.*result.damaged"):
        load(lecture.root, "try")


@pytest.mark.parametrize("name", recorder_names(ROOT))
def test_the_committed_result_is_of_its_recorder(name):
    """Who changes a recorder records again, and from a clean checkout: `workshop record NAME`."""
    recorded = load(ROOT, name).recorded

    assert recorded["recorder"] == checksum(ROOT / "slides/recorders" / f"{name}.py")
    assert recorded["command"] == f"workshop record {name}"
    assert recorded["dirty"] is False


def test_no_result_is_without_a_recorder():
    """Every file of slides/results/ is a recorder's, and git knows it."""
    known = {f"{name}.json" for name in recorder_names(ROOT)}
    known |= {path.name for name in recorder_names(ROOT) for path in load(ROOT, name).data.get("pictures", {}).values()}
    files = subprocess.run(
        ["git", "ls-files", "slides/results"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()

    assert {Path(file).name for file in files} == known
