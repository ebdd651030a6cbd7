"""Pages of feedback: what a student may see, and nothing that runs in a browser."""

import re

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_output

from coursekit.course.collect import collect
from coursekit.course.preprocessors import NOT_SHOWN, without_hidden_tests
from coursekit.course.record import record
from coursekit.course.release import FEW_PAGES, give_all, give_feedback
from coursekit.course.versions import read_submission
from coursekit.grading.verdict import Flag

from .conftest import NAME, RIGHT, verdict

SCRIPT = "<script>alert(1)</script>"
pytestmark = [
    # nbgrader leaves a file open when it releases feedback.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def body(page):
    """Return the part of a page that is not nbconvert's own head."""
    return page.read_text().partition("<body>")[2]


def test_nothing_of_a_student_runs_in_a_browser(course, hand_in):
    """Markup in text cells, in code and in messages is text or gone; raw output and flags are not on the page."""
    answers = {
        "explain": f"Hello {SCRIPT} <img src=x onerror=alert(2)> [a](javascript:alert(3))",
        "mean": f'def mean(x):\n    return "{SCRIPT}"',
    }
    hand_in(answers={**RIGHT, **answers})
    collect(course, NAME)
    flags = (Flag("network", "It asked for an address."),)
    one = verdict("ada", (0, 1), (f"AssertionError: {SCRIPT}", ""), flags=flags, outputs={"mean": "raw output"})
    record(course, one, read_submission(course, NAME, "ada"))
    given = give_feedback(course, NAME, "ada")
    text = body(given.page)
    assert given.goes_back
    assert SCRIPT not in text
    assert "onerror=alert(2)>" not in text
    assert 'href="javascript:' not in text
    assert "AssertionError: &lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "raw output" not in text
    assert flags[0].text not in text


def test_only_what_changed_is_made_again(course, graded):
    """The same page is left; another comment, other points and a page that is gone make a new one."""
    graded("ada")
    first = give_feedback(course, NAME, "ada")
    before = first.page.stat().st_mtime_ns

    assert (first.is_new, give_feedback(course, NAME, "ada").is_new) == (True, False)
    assert first.page.stat().st_mtime_ns == before

    with course.gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook(NAME, NAME, "ada")
        notebook.comments[0].manual_comment = "Well seen."
        gradebook.db.commit()
    assert give_feedback(course, NAME, "ada").is_new
    assert "Well seen." in first.page.read_text()

    secret = course.autograded(NAME, "ada") / "submission_secret.txt"
    secret.chmod(0o644)
    secret.write_text("of the same work, handed in once more")
    assert give_feedback(course, NAME, "ada").is_new

    first.page.chmod(0o644)
    first.page.unlink()
    assert give_feedback(course, NAME, "ada").is_new


def test_many_pages_are_made_by_several_processes(course, graded):
    """They come in the order of the students, each with its own points."""
    students = [f"s{number:02}" for number in range(FEW_PAGES)]
    for student in students:
        graded(student)

    given = list(give_all(course, NAME, students))

    assert [(one.student, one.is_new, one.page.is_file()) for one in given] == [(name, True, True) for name in students]


def test_plain_autograde_gives_no_hidden_test_away(course, graded):
    """What nbgrader's own autograding leaves, hidden tests in cells and frames, and pages of a student's making."""
    graded("ada")
    path = course.autograded(NAME, "ada") / f"{NAME}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    hidden = "### BEGIN HIDDEN TESTS\nassert shard([71, 72, 73], 1, 2) == [72]\n### END HIDDEN TESTS"
    cells["shard-tests"].source += f"\n{hidden}"
    cells["shard-tests"].outputs = [
        new_output("stream", text="[71, 72, 73]"),
        new_output("error", ename="AssertionError", evalue="the shards", traceback=["---> [71, 72, 73]", hidden]),
    ]
    cells["mean"].outputs = [
        new_output("display_data", data={"text/html": SCRIPT, "text/plain": "a table"}),
        new_output("display_data", data={"application/javascript": "alert(4)"}),
        new_output("stream", text=f"printed {SCRIPT}"),
    ]
    notebook.cells.append(nbformat.v4.new_raw_cell(SCRIPT, metadata={"format": "text/html"}))
    path.chmod(0o644)
    nbformat.write(notebook, path)

    text = body(give_feedback(course, NAME, "ada").page)

    assert "AssertionError: the shards" in text
    assert "a table" in text
    assert "printed &lt;script&gt;" in text
    for word in ("[71, 72, 73]", "HIDDEN", SCRIPT, "alert(4)"):
        assert word not in text, word


@pytest.mark.parametrize(
    "link",
    [
        "[a](javascript:alert(1))",
        "[a](<java\tscript:alert(1)>)",
        "[a](\n&#106;avascript:alert(1))",
        "![a](data:text/html;base64,xx)",
        "[a][b]\n\n> [b]: javascript:alert(1)",
        "[a][b]\n\n[b]:\n  vbscript:alert(1)",
        "[a](java\\script:alert(1))",
    ],
)
def test_a_link_to_a_script_leads_nowhere(course, link):
    """Formgrader's pages are made with the course's configuration: the link is there and goes to the top."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(link)])
    page, _ = HTMLExporter(config=course.config).from_notebook_node(notebook)
    text = page.partition("<body")[2]
    assert not re.search(r"(href|src)=.(?!#|https?://)[^>]*(script|data):", text)
    assert "alert(1)</a>" not in text


@pytest.mark.parametrize(
    "link", ["https://example.org/a?b=1&c=2", "mailto:a@b.org", "pictures/x.png", "#top", "../a_b"]
)
def test_ordinary_links_stay(course, link):
    """Web pages, addresses and files nearby."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"[a]({link})")])
    page, _ = HTMLExporter(config=course.config).from_notebook_node(notebook)
    assert f'href="{link}"' in page.partition("<body")[2].replace("&amp;", "&")


def test_marks_that_are_out_of_order_hide_the_cell():
    """A region without its end is not guessed at."""
    assert without_hidden_tests("a = 1\n### BEGIN HIDDEN TESTS\nb = 2") == NOT_SHOWN
    assert without_hidden_tests("a = 1\n### BEGIN HIDDEN TESTS\nb = 2\n### END HIDDEN TESTS") == "a = 1"
    assert without_hidden_tests("a = 1") == "a = 1"


def test_what_did_not_come_through_the_exchange_stays_here(course, hand_in, call):
    """A hand-in without the exchange's secret gets its page, and the verb says where it lies."""
    (hand_in() / "submission_secret.txt").unlink()
    collect(course, NAME)
    record(course, verdict(), read_submission(course, NAME, "ada"))
    page = course.folder / "feedback" / "ada" / NAME / f"{NAME}.html"
    line, where = call("course", "feedback", "01")[1]
    assert re.findall(r"\d+", line.removeprefix(NAME)) == ["1", "1"]
    assert ": ada; " in where
    assert str(course.folder / "feedback") in where
    assert "(Score: 3.0 / 7.0)" in page.read_text()
