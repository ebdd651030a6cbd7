"""What students get: stubs for answers, no hidden test, locked cells, *Run All* to its end; and no leak passes."""

import copy

import nbformat
import pytest
from nbclient import NotebookClient

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_release, source_notebook
from coursekit.labs.build.release import refuse_leaks, release_notebook, secret_lines, texts
from coursekit.labs.cells import GOES_ON
from coursekit.labs.points import score


def test_answers_become_stubs_and_hidden_tests_go(course, example):
    """The stub stands where the answer stood, indented as it was; everything else stays."""
    source = source_notebook(course.add_lab("01-a", example))
    before = copy.deepcopy(source)
    release = release_notebook("01-a", source)

    assert [cell.source for cell in release.cells] == [
        "# Doubling\n\nWrite a function.",
        "num_epochs = 1",
        'def double(number):\n    # about 2 lines\n    raise NotImplementedError("your answer goes here")',
        "assert double(2) == 4",
        "%%time\nprint(double(1))",
        "Why is it right?\n\n*Your answer goes here.*",
    ]
    assert source == before


def test_a_manual_cell_without_a_region_is_all_answer(course):
    """Everything in it is replaced."""
    text = '# %% [markdown] role="manual" id="why" points=1\n# Because of the sum.\n\n# %%\nx = 1\n'
    release = release_notebook("01-a", source_notebook(course.add_lab("01-a", text)))

    assert [cell.source for cell in release.cells] == ["*Your answer goes here.*", "x = 1"]


def test_what_nbgrader_refuses_is_shown(course):
    """A notebook that our own checks would not let pass shows that nbgrader's reason is not lost."""
    source = source_notebook(course.add_lab("01-a"))
    source.cells[1].source = "### BEGIN SOLUTION\nx = 1\n### END SOLUTION"

    with pytest.raises(CourseKitError, match=r"01-a: Solution region.*\[release\.refused\]"):
        release_notebook("01-a", source)


@pytest.fixture
def source(course):
    """Return the source version of the example."""
    return source_notebook(course.add_lab("01-a"))


@pytest.fixture
def release(source):
    """Return the students' version of the example."""
    return release_notebook("01-a", source)


@pytest.mark.parametrize(
    ("shown", "secrets"),
    [
        ("# Write it.", {"twice = number + number", "assert double(21) == 42", "Because addition does it."}),
        ("# Write `twice = number + number`.", {"assert double(21) == 42", "Because addition does it."}),
        (
            '# Hint.\n\n# %% [markdown] role="manual" id="why" points=1\n# As it is a sum.',
            {"twice = number + number", "assert double(21) == 42", "Because addition does it.", "As it is a sum."},
        ),
    ],
)
def test_secrets_are_the_lines_of_answers(course, example, shown, secrets):
    """Also of one without region, but none that is short, nor one that the author gives away on purpose."""
    lab = course.add_lab("01-a", example.replace("# Write a function.", shown))

    assert secret_lines(source_notebook(lab)) == secrets


@pytest.mark.parametrize(
    ("leak", "shown"),
    [
        ("    twice = number + number", "twice = number + number"),
        ("print(1); assert double(21) == 42", "assert double(21) == 42"),
        ("# ### BEGIN SOLUTION", "BEGIN SOLUTION"),
        ("END HIDDEN TESTS", "END HIDDEN TESTS"),
    ],
)
def test_a_leak_made_by_hand_is_found(source, release, leak, shown):
    """In a file, in what a cell has printed, and in a cell itself; the message says what leaks and where."""
    printed, written = copy.deepcopy(release), copy.deepcopy(release)
    printed.cells[4].outputs = [{"output_type": "stream", "name": "stdout", "text": f"{leak}\n"}]
    written.cells[4].source += f"\n{leak}"
    for place, leaking in (
        ("files/a.txt", texts(release, {"files/a.txt": f"x\n{leak}\n".encode()})),
        ("cell 01-a-5", texts(printed, {})),
        ("cell 01-a-5", texts(written, {})),
    ):
        with pytest.raises(CourseKitError) as caught:
            refuse_leaks("01-a", source, leaking)
        assert caught.value.code == "release.leak"
        assert all(fact in str(caught.value) for fact in ("01-a", place, repr(shown)))


REPORTED = """\
# %% id="imports" role="readonly"
from coursekit.checks import check, hand_in_report, require

# %% role="answer" id="double"
def double(number):
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION

# %% role="tests" id="double-tests" points=2
with check("double", section="1"):
    require(double(2) == 4, f"twice 2: expected 4, got {double(2)}")

# %% role="readonly" id="picture" tags=["picture"]
print("twice 21 is", double(21))

# %% role="answer" id="half"
def half(number):
    # about 1 line
    ### BEGIN SOLUTION
    return number / 2
    ### END SOLUTION

# %% role="tests" id="half-tests" points=0.5
with check("half", section="2"):
    require(half(2) == 1, "no half")

# %% role="tests" id="third-tests" points=1
with check("third", section="3"):
    require(half(6) == 3, "no third")

# %% role="readonly" id="report"
hand_in_report()
"""


@pytest.fixture
def half_done(course):
    """Return the released lab with one of its two answers."""
    path = build_release(course.root, [course.add_lab("01-a", REPORTED)])["01-a"]
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if cell.id == "half").source = "def half(number):\n    return number / 2"
    nbformat.write(notebook, path)
    return path


def test_every_check_is_in_the_report_of_a_lab(course):
    """The builder tells the report the name and the points of each check, in their order."""
    notebook = source_notebook(course.add_lab("01-a", REPORTED))

    assert notebook.cells[-1].source == 'hand_in_report({\n    "double": 2,\n    "half": 0.5,\n    "third": 1,\n})'


def test_cells_from_the_first_answer_on_may_fail(course):
    """What no answer can break still stops the notebook; only the students' version has the marks.

    A cell whose error is part of the lesson has that mark alone.
    """
    lesson = '# %% role="readonly" id="lesson" tags=["raises-exception"]\n1 / 0\n\n# %% role="readonly" id="report"'
    lab = course.add_lab("01-a", REPORTED.replace('# %% role="readonly" id="report"', lesson))
    path = build_release(course.root, [lab])["01-a"]
    tags = {cell.id: cell.metadata.get("tags", []) for cell in nbformat.read(path, as_version=4).cells}

    assert tags["imports"] == []
    assert tags["picture"] == ["picture", *GOES_ON]
    assert tags["lesson"] == ["raises-exception"]
    assert all(list(GOES_ON) == tags[name] for name in ("double", "double-tests", "half-tests", "report"))
    assert not any("run-all" in cell.metadata.get("tags", []) for cell in source_notebook(lab).cells)


def test_run_all_goes_on_to_the_report(half_done):
    """A stub fails its check and its picture; what does not need it runs, and the report counts all."""
    notebook = nbformat.read(half_done, as_version=4)
    next(cell for cell in notebook.cells if cell.id == "third-tests").source = ""
    NotebookClient(notebook, timeout=900, startup_timeout=900, iopub_timeout=900).execute()
    outputs = {cell.id: cell.outputs for cell in notebook.cells}

    assert [output.ename for name in ("double-tests", "picture") for output in outputs[name]] == [
        "CheckError",
        "NotImplementedError",
    ]
    assert outputs["report"][0].text.splitlines() == [
        "✗ double (2 points): not answered yet (double) [answer.empty]",
        "✓ half (0.5 points)",
        "· third (1 point): not run",
        "",
        "1 of 3 checks passed.",
        "That is 0.5 of 3.5 points in this notebook; grading tests further cases.",
    ]
    assert [(one.grade_id, one.points) for one in score(notebook)] == [
        ("double-tests", 0),
        ("half-tests", 0.5),
        ("third-tests", 0),
    ]
