"""The frame around checks: names, sections, messages, and silence on stderr."""

from __future__ import annotations

import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from coursekit import ranks
from coursekit.checks import CheckError, check, hand_in_report, require
from coursekit.checks.check import require_result, start_over


@pytest.fixture(autouse=True)
def another_notebook():
    """Let no test see the checks of another one."""
    start_over()


def test_message_names_property_fault_and_section():
    """A failed check says which property, what is wrong and which section explains it."""
    with pytest.raises(CheckError) as caught, check("shards", section="3"):
        require(condition=False, message="no shard")

    assert str(caught.value) == "shards: no shard → section 3"


def test_pages_of_tensorflow_become_one_line():
    """Of a failed graph the message keeps what went wrong in it, not where every operation came from."""
    page = """Graph execution error:

Detected at node Allreduce/HorovodAllreduce_0 defined at (most recent call last):
  File "<string>", line 1, in <module>

  File "/somewhere/keras/engine/training.py", line 1807, in fit

Horovod has been shut down.
\t [[{{node Allreduce/HorovodAllreduce_0}}]] [Op:__inference_train_function_615]"""
    with pytest.raises(CheckError) as caught, check("shards", section="3"):
        raise ranks.RankError("rank 0 was left alone.\n\nFile …", rank=0, error_type="UnknownError", error_text=page)

    assert str(caught.value) == "shards: rank 0 was left alone. (UnknownError: Horovod has been shut down.) → section 3"


def test_unanswered_exercise_is_called_so():
    """The stub's exception reads as an exercise not answered yet, here and on a rank."""
    with pytest.raises(CheckError) as here, check("loss", section="2"):
        raise NotImplementedError
    with pytest.raises(CheckError) as on_a_rank, check("shards", section="3"):
        raise ranks.RankError(
            "rank 0 raised NotImplementedError",
            rank=0,
            error_type="NotImplementedError",
            place="Cell In[3], line 4 in pin_gpu: `raise NotImplementedError`",
        )

    assert str(here.value) == "loss: not answered yet → section 2"
    assert str(on_a_rank.value) == "shards: not answered yet (pin_gpu) → section 3"


def test_exception_of_an_answer_becomes_one_line():
    """An answer that raises is told by type and text, without a traceback through the checks."""
    with pytest.raises(CheckError) as caught, check("loss", section="2"):
        raise ZeroDivisionError("division by zero")

    assert str(caught.value) == "loss: the answer raised ZeroDivisionError: division by zero → section 2"
    assert caught.value.__suppress_context__


def shown_by(*cells):
    """Return what a notebook shows of the last of these cells."""
    shell = InteractiveShell()
    for cell in cells:
        with capture_output() as shown:
            shell.run_cell(cell)
    return shown.stdout


LOSS = "from coursekit.checks import check\n\ndef loss(x):\n    return 1 / x"
CHECK_LOSS = "with check('{}', '2'):\n    loss(0)"
PLACE = "line 4 in loss: `return 1 / x`"


def test_exception_shows_the_students_own_line_once():
    """The first check says in which line; another one, which meets the same exception, where it is told."""
    first = shown_by(LOSS, CHECK_LOSS.format("loss"))
    second = shown_by(LOSS, CHECK_LOSS.format("loss"), CHECK_LOSS.format("step"))
    again = shown_by(LOSS, CHECK_LOSS.format("step"), CHECK_LOSS.format("loss"))

    assert first.startswith("CheckError: loss: the answer raised ZeroDivisionError: division by zero (")
    assert first.endswith(f", {PLACE}) → section 2\n")
    assert second == "CheckError: step: the answer raised ZeroDivisionError: see “loss” → section 2\n"
    assert again == first


def test_what_is_told_is_forgotten_when_the_check_passes():
    """Otherwise another check would point at a ✓."""
    with pytest.raises(CheckError), check("one", section="1"):
        raise ValueError("words")
    with check("one", section="1"):
        pass
    with pytest.raises(CheckError, match="ValueError: words"), check("two", section="1"):
        raise ValueError("words")


def test_a_failed_run_is_told_once_and_findings_each_time():
    """Checks of a trial that did not end share a cause; two answers that lack the same property do not."""
    told = []
    for name in ("first", "second"):
        with pytest.raises(CheckError) as caught, check(name, section="1"):
            require_result("rank 0 raised ValueError: words (Cell In[2], line 3 in f)", "the training")
        told.append(str(caught.value))
    for name in ("one answer", "another answer"):
        with pytest.raises(CheckError, match="not disjoint"), check(name, section="1"):
            require(condition=False, message="not disjoint")
    with pytest.raises(CheckError) as caught, check("third", section="1"):
        require_result("not answered yet", "the training")

    assert told == [
        "first: the training did not end well: rank 0 raised ValueError: words (Cell In[2], line 3 in f) → section 1",
        "second: the training did not end well: rank 0 raised ValueError: see “first” → section 1",
    ]
    assert str(caught.value) == "third: not answered yet → section 1"


def test_an_interrupted_check_says_where_it_was():
    """The stop button shows the line that hangs, and no line of the kit; whoever catches it gets what he expects."""
    loop = "from coursekit.checks import check\n\ndef loss(x):\n    raise KeyboardInterrupt"
    shown = shown_by(loop, CHECK_LOSS.format("loss"))

    assert shown.startswith("KeyboardInterrupt: loss: stopped in ")
    assert shown.endswith("line 4 in loss: `raise KeyboardInterrupt`\n")
    assert shown.count("\n") == 1


def test_notebooks_show_the_message_alone():
    """IPython asks an exception for its own rendering: students see the sentence and no frame of the kit."""
    shell = InteractiveShell()
    with capture_output() as shown:
        shell.run_cell("from coursekit.checks import check, require\nwith check('a', '1'):\n    require(False, 'b')")

    assert shown.stdout == "CheckError: a: b → section 1\n"


def test_text_on_stderr_moves_to_stdout(capsys):
    """What an answer writes to stderr lands on stdout: nbgrader fails cells with text on stderr."""
    with check("noise", section="1"):
        print("a line", file=sys.stderr)

    assert capsys.readouterr() == ("a line\n✓ noise\n", "")


def test_report_lists_the_last_result_of_every_check(capsys):
    """The list before handing in shows each check once, with its latest result."""
    with pytest.raises(CheckError), check("first of two", section="1"):
        require(condition=False, message="wrong")
    with check("first of two", section="1"):
        pass
    with pytest.raises(CheckError), check("second of two", section="9"):
        require(condition=False, message="missing")
    capsys.readouterr()
    hand_in_report()
    lines = capsys.readouterr().out.splitlines()

    assert [line for line in lines if "of two" in line] == ["✓ first of two", "✗ second of two: missing"]


def test_report_lists_every_check_of_the_lab(capsys):
    """With points, and what has not run or no check can judge; whatever else was checked is left out."""
    with check("begun", section="1"):
        pass
    with pytest.raises(CheckError), check("wrong one", section="1"):
        require(condition=False, message="no shard")
    capsys.readouterr()
    hand_in_report({"begun": 2, "not begun": 1, "wrong one": 0.5}, texts={"reasons": 2})

    assert capsys.readouterr().out.splitlines() == [
        "✓ begun (2 points)",
        "· not begun (1 point): not run",
        "✗ wrong one (0.5 points): no shard",
        "· reasons (2 points): a text, which your instructor reads",
        "",
        "1 of 3 checks passed.",
        "Here these are 2 of 3.5 points; grading tries further cases.",
    ]


def test_a_machine_that_is_too_slow_says_nothing_about_the_answer():
    """That error stays what it is: no property is missing, and no grader may take it for a lost point."""
    with pytest.raises(ranks.MachineTooSlowError, match="run the cell again"), check("slow", section="1"):
        raise ranks.MachineTooSlowError("run the cell again")
