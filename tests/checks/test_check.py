"""The frame around checks: names, sections, messages, and silence on stderr."""

from __future__ import annotations

import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from coursekit import ranks
from coursekit.checks import CheckError, check, hand_in_report, require


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
        raise ranks.RankError("rank 0 raised NotImplementedError", rank=0, error_type="NotImplementedError")

    assert str(here.value) == "loss: not answered yet → section 2"
    assert str(on_a_rank.value) == "shards: not answered yet → section 3"


def test_exception_of_an_answer_becomes_one_line():
    """An answer that raises is told by type and text, without a traceback through the checks."""
    with pytest.raises(CheckError) as caught, check("loss", section="2"):
        raise ZeroDivisionError("division by zero")

    assert str(caught.value) == "loss: the answer raised ZeroDivisionError: division by zero → section 2"
    assert caught.value.__suppress_context__


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


def test_a_machine_that_is_too_slow_says_nothing_about_the_answer():
    """That error stays what it is: no property is missing, and no grader may take it for a lost point."""
    with pytest.raises(ranks.MachineTooSlowError, match="run the cell again"), check("slow", section="1"):
        raise ranks.MachineTooSlowError("run the cell again")
