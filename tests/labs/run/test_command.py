"""`coursekit run` on a course with one lab of each kind: one real run, looked at from all sides."""

import json
import re
from contextlib import suppress
from html.parser import HTMLParser

import psutil
import pytest

from coursekit.errors import codes_in

# A program that takes 300 MB and does not end when asked to.
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
memory = b"1" * 300_000_000
print(flush=True)
time.sleep(3600)
"""

# A lab with everything that should not disturb: text on stderr, an error that is part of the lesson, a picture,
# a parameter, a file, and a process in a session of its own that does not end when asked to.
PASSING = """\
# %% tags=["parameters"]
num_ranks = 1
rate = 0.5

# %% role="answer" id="setup"
### BEGIN SOLUTION
import os, subprocess, sys
print("noise", file=sys.stderr)
print(sorted(name for name in os.environ if name.startswith(("HOROVOD_", "OMPI_", "PMIX_", "PMI_"))))
open("written.txt", "w").write(f"{num_ranks} {rate}")
orphan = subprocess.Popen([sys.executable, "-c", STUBBORN], start_new_session=True, stdout=subprocess.PIPE)
_ = orphan.stdout.readline()
open("orphan.txt", "w").write(str(orphan.pid))
### END SOLUTION

# %% role="readonly" id="lesson" tags=["raises-exception"]
raise ValueError("part of the lesson")

# %% role="readonly" id="picture"
import base64
from IPython.display import display
display({"image/png": PNG, "text/plain": "<Figure>"}, raw=True, metadata={"image/png": {"alt": "One red <dot>"}})

# %% role="tests" id="setup-tests" points=2
import time; time.sleep(1)
print("more noise", file=sys.stderr)
assert rate == 0.25
"""

FAILING = """\
# %% role="answer" id="wrong"
### BEGIN SOLUTION
total = 1
### END SOLUTION

# %% role="tests" id="reached-tests" points=2
assert total == 1

# %% role="tests" id="failing-tests" points=3
assert total == 2, "the \\x1b[31mtotal\\x1b[0m <is> wrong"

# %% role="tests" id="unreached-tests" points=5
assert total == 1
"""

PARTIAL = """\
# %% role="answer" id="half"
### BEGIN SOLUTION
share = 1.5
### END SOLUTION

# %% role="tests" id="half-tests" points=4
share
"""


RED_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"


class Page(HTMLParser):
    """What a browser would load and show of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        """Keep every tag."""
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        """Keep all text."""
        self.text += data


@pytest.fixture(scope="module")
def done(course):
    """One run of all three labs, as a user in a shell inside an MPI job would do it."""
    course.add(
        "01-passing",
        PASSING.replace("PNG,", f"{RED_PIXEL!r},").replace("STUBBORN", repr(STUBBORN)),
        "rate = 0.125\nnum_ranks = 2",
    )
    course.add("02-failing", FAILING)
    course.add("03-partial", PARTIAL)
    return course.run("--ranks", "3", "-p", "rate", "0.25", OMPI_COMM_WORLD_RANK="0", HOROVOD_RANK="0", PMIX_RANK="1")


@pytest.fixture(scope="module")
def labs(course, done):
    """The labs of the JSON report."""
    assert done.returncode == 1
    return json.loads((course.latest / "report.json").read_text())["labs"]


def test_each_lab_gets_its_verdict_and_its_points(labs):
    """A lab passes only with full points; a failing one does not keep the others from running."""
    found = [(lab["lab"], lab["verdict"], lab["points"], lab["max_points"]) for lab in labs]
    assert found == [("01-passing", "passed", 2, 2), ("02-failing", "failed", 2, 10), ("03-partial", "failed", 1.5, 4)]


def test_points_are_those_of_the_cells_that_ran(labs):
    """A test that is not reached earns nothing, and a test that loses points is named."""
    assert [(score["grade_id"], score["points"]) for score in labs[1]["scores"]] == [
        ("reached-tests", 2),
        ("failing-tests", 0),
        ("unreached-tests", 0),
    ]
    assert codes_in(labs[2]["reason"]) == ["lab.points-lost"]
    assert " 2.5 points: half-tests (PartialCredit: 1.5 of 4 points)" in labs[2]["reason"]


def test_kernels_do_not_inherit_an_enclosing_launcher(course, labs):
    """A rank of a lab must not take itself for a rank of the job that `coursekit run` runs in."""
    del labs
    cells = json.loads((course.latest / "01-passing" / "01-passing.ipynb").read_text())["cells"]
    printed = [line for cell in cells for out in cell.get("outputs", []) for line in out.get("text", [])]
    assert "[]\n" in printed


def test_memory_counts_processes_below_the_kernel(labs):
    """300 MB in a child of the kernel are part of the lab's peak, those of other labs are not."""
    assert 300 < labs[0]["peak_memory_mb"] < 700
    assert 20 < labs[1]["peak_memory_mb"] < 200


def test_nothing_outlives_the_run(course, labs):
    """A process in a session of its own that ignores SIGTERM is gone as well."""
    del labs
    pid = int((course.latest / "01-passing" / "orphan.txt").read_text())
    with suppress(psutil.NoSuchProcess):  # it may wait for burial by the process that has adopted it
        assert psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    assert course.processes() == set()


def test_an_error_that_belongs_to_the_lesson_is_no_failure(course, labs):
    """The executed notebook carries no mark of papermill's about it."""
    assert labs[0]["reason"] == ""
    assert "papermill-error" not in (course.latest / "01-passing" / "01-passing.ipynb").read_text()


def test_a_failing_cell_is_shown_with_source_and_error(labs, done):
    """The terminal and the JSON have number, name, source and the traceback without colours."""
    cell = labs[1]["failed_cell"]
    assert (cell["number"], cell["name"]) == (3, "failing-tests")
    assert cell["source"].startswith("assert total == 2")
    assert cell["error"].splitlines()[-1] == "AssertionError: the total <is> wrong"
    assert codes_in(labs[1]["reason"]) == ["lab.error"]
    assert "    AssertionError: the total <is> wrong" in done.stdout.splitlines()


def test_a_plain_log_tells_cells_and_labs(done):
    """Without a terminal there is one line per cell and one per lab, no control codes, and nothing on stderr."""
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("lab 2/3")] == [
        "lab 2/3 02-failing: cell 1/4 wrong",
        "lab 2/3 02-failing: cell 2/4 reached-tests",
        "lab 2/3 02-failing: cell 3/4 failing-tests",
        next(line for line in lines if line.startswith("lab 2/3 02-failing: FAILED, 2 / 10 points, ")),
    ]
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_the_table_has_a_row_per_lab(done):
    """Verdict, points and ranks of each lab stand in the table at the end."""
    rows = [re.split(r"\s*[│|]\s*", line.strip("│| ")) for line in done.stdout.splitlines() if line.startswith("│")]
    assert [(row[0], row[1], row[2], row[4]) for row in rows] == [
        ("01-passing", "passed", "2 / 2", "3"),
        ("02-failing", "FAILED", "2 / 10", "1"),
        ("03-partial", "FAILED", "1.5 / 4", "1"),
    ]


def test_the_page_holds_pictures_and_links_to_what_exists(course, labs):
    """The page loads nothing from elsewhere, shows the picture with its words, and every link leads to a file."""
    page = Page((course.latest / "report.html").read_text())
    images = [attributes for tag, attributes in page.tags if tag == "img"]
    assert images == [{"src": f"data:image/png;base64,{RED_PIXEL}", "alt": "One red <dot>"}]
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    files = [link for link in links if not link.startswith("#")]
    made = [
        f"{lab['lab']}/{name}" for lab in labs for name in (f"{lab['lab']}.html", f"{lab['lab']}.ipynb", "kernel.log")
    ]
    logs = [f"{lab['lab']}/kernel.log" for lab in labs]
    assert [link for link in files if link not in logs] == [link for link in made if link not in logs]
    assert all((course.latest / link).stat().st_size for link in files)
    assert {tag for tag, _ in page.tags} & {"script", "link", "iframe"} == set()
    assert "AssertionError: the total <is> wrong" in page.text
