"""The frame around checks: names, sections, messages, and silence on stderr."""

import os
import sys
from contextlib import suppress

import numpy as np
import pytest
import tensorflow as tf
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from coursekit import ranks
from coursekit.checks import CheckError, check, hand_in_report, require
from coursekit.checks.check import describe, fresh_rng, repeatable, start_over
from coursekit.checks.compare import explained
from coursekit.checks.on_ranks import AnswerError, call_answer
from coursekit.drivers.calls import call
from coursekit.errors import STUB, codes_in
from coursekit.tracebacks import short_cause


@pytest.fixture(autouse=True)
def another_notebook():
    """Let no test see the checks of another one."""
    start_over()


def test_message_names_property_fault_and_section():
    """A failed check says which property, what is wrong, by which code, and which section explains it."""
    with pytest.raises(CheckError) as caught, check("shards", section="3"):
        require(condition=False, message="no shard", code="shards.none")

    assert str(caught.value) == "shards: no shard [shards.none] → section 3"
    assert caught.value.code == "shards.none"


def on_rank(kind, text="", place="", message="", code=""):
    """Return the error of a launch in which rank 1 raised an exception of this kind, or of which it says `message`."""
    return ranks.RankError(
        message or f"rank 1 raised {kind}; …", code, rank=1, error_type=kind, error_text=text, place=place
    )


LINE = "Cell In[3], line 4 in pin_gpu: `raise`"
SYMBOLIC = "in user code:\n\n\n    NotImplementedError: Cannot convert a symbolic tf.Tensor (x:0) to a numpy array."
WRONG_RETURN = "f returned None; a pair was expected [answer.wrong-type]"


@pytest.mark.parametrize(
    ("error", "place", "code", "facts"),
    [
        (NotImplementedError(), LINE, "answer.empty", ["(pin_gpu)"]),
        (NotImplementedError(STUB), "", "answer.empty", []),
        (on_rank("NotImplementedError", place=LINE), "", "answer.empty", ["(pin_gpu)"]),
        (AnswerError("NotImplementedError", ""), "", "answer.empty", []),
        # TensorFlow raises the stub's type, too.
        (on_rank("NotImplementedError", SYMBOLIC, LINE), "", "answer.raised", ["rank 1", LINE, "tf.Tensor"]),
        (ValueError("no"), LINE, "answer.raised", ["ValueError: no", LINE]),
        (AnswerError("ZeroDivisionError", "by zero"), "", "answer.raised", ["ZeroDivisionError: by zero"]),
        (on_rank("ValueError", "no", LINE), "", "answer.raised", ["rank 1", "ValueError: no", LINE]),
        (AnswerError("TimeoutError", "after 20 s"), "", "answer.too-slow", ["20 s"]),
        # Without a line of the student's, no exception is the answer's.
        (ValueError("no"), "", "answer.unusable", ["ValueError: no"]),
        (on_rank("ValueError", "no"), "", "answer.unusable", ["rank 1", "ValueError: no"]),
        (AnswerError("WrongReturnError", WRONG_RETURN), "", "answer.wrong-type", ["f returned None"]),
        (on_rank("WrongReturnError", WRONG_RETURN), "", "answer.wrong-type", ["rank 1", "f returned None"]),
        # A rank that did not raise: what the launch says, and in brackets the exception that was left.
        (
            on_rank("UnknownError", "No peer.", message="rank 1 has failed.\n\nFile …\n", code="rank.killed"),
            "",
            "rank.killed",
            ["rank 1 has failed. (UnknownError: No peer.)"],
        ),
    ],
)
def test_an_exception_is_described_by_its_cause(error, place, code, facts):
    """Here, on a rank and elsewhere alike: by a code, with the rank, the exception and the student's line."""
    message = describe(error, place)

    assert codes_in(message)[-1:] == [code]
    assert [fact for fact in facts if fact not in message] == []
    assert "\n" not in message


@pytest.mark.parametrize("returned", [None, "text"])
def test_what_an_answer_does_to_the_environment_is_taken_back(returned, monkeypatch, capsys):
    """Variables that it sets, changes and deletes are as before, whether the check passes or fails, and are named."""
    monkeypatch.setenv("COURSE_CHANGED", "before")
    monkeypatch.setenv("COURSE_DELETED", "before")
    monkeypatch.delenv("TF_CONFIG", raising=False)

    def answer():
        os.environ["TF_CONFIG"] = "{}"
        os.environ["COURSE_CHANGED"] = "after"
        del os.environ["COURSE_DELETED"]
        return returned

    before = dict(os.environ)
    with suppress(CheckError), check("cluster", section="7"):
        require(call_answer(call, answer), "no text")

    assert dict(os.environ) == before
    assert "COURSE_CHANGED, COURSE_DELETED, TF_CONFIG" in capsys.readouterr().out
    with check("loss", section="2"):
        pass
    assert capsys.readouterr().out == "✓ loss\n"


def test_a_foreign_text_is_cut_to_its_first_sentence():
    """Of TensorFlow's screens a short sentence stays, without arrays and tracebacks."""
    signature = (tf.TensorSpec((28, 28), tf.float32), tf.TensorSpec((), tf.int64))
    image = np.zeros((28, 28), np.float32)
    data = tf.data.Dataset.from_generator(lambda: (image, 3), output_signature=signature)
    with pytest.raises(CheckError) as caught, check("drawn", section="3"):
        next(data.as_numpy_iterator())

    message = str(caught.value)
    assert "Traceback" not in message
    assert "0." not in message
    assert len(message) < 500


def test_a_long_text_is_cut():
    """Of an exception its first sentence is shown, at most 200 characters and no array, and its code."""
    numbers = "array([[0., 1., 2.], [3., 4., 5.], [6., 7., 8.], [9., 10., 11.]], dtype=float32)"

    assert short_cause("x" * 1000 + " [a.b]") == "x" * 199 + "… [a.b]"
    assert short_cause("a b\nc. Another one. [a.b]") == "a b c. [a.b]"
    assert short_cause(f"wrong values: {numbers}") == "wrong values: […]"


def shown_by(*cells):
    """Return what a notebook shows of the last of these cells, as one line."""
    shell = InteractiveShell()
    for cell in cells:
        with capture_output() as shown:
            shell.run_cell(cell)
    return " ".join(shown.stdout.split())


LOSS = "from coursekit.checks import check\n\ndef loss(x):\n    return 1 / x"
CHECK = "from coursekit.checks import check\nwith check('loss', '2'):\n    loss(0)"
CHECK_LOSS = "with check('loss', '2'):\n    loss(0)"


def test_exception_shows_the_students_own_line():
    """Of a notebook's cell, with its code, and without a traceback through the checks."""
    shown = shown_by(LOSS, CHECK_LOSS)

    assert shown.startswith("CheckError: loss: ")
    assert shown.endswith(", line 4 in loss: `return 1 / x`) [answer.raised] → section 2")


def test_an_interrupted_check_says_where_it_was():
    """The stop button shows the line that hangs, and no line of the kit; whoever catches it gets what he expects."""
    loop = "from coursekit.checks import check\n\ndef loss(x):\n    raise KeyboardInterrupt"
    shown = shown_by(loop, CHECK_LOSS)

    assert shown.startswith("KeyboardInterrupt: loss: ")
    assert shown.endswith("line 4 in loss: `raise KeyboardInterrupt`")


def test_text_on_stderr_moves_to_stdout(capsys):
    """What an answer writes to stderr lands on stdout: nbgrader fails cells with text on stderr."""
    with check("noise", section="1"):
        print("a line", file=sys.stderr)

    assert capsys.readouterr() == ("a line\n✓ noise\n", "")


def test_report_lists_every_check_of_the_lab(capsys):
    """With its last result and points, and what has not run or no check can judge."""
    with pytest.raises(CheckError), check("begun", section="1"):
        require(condition=False, message="wrong at first")
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
        "· reasons (2 points): a text, which your instructor grades",
        "",
        "1 of 3 checks passed.",
        "That is 2 of 3.5 points in this notebook; grading tests further cases.",
    ]


def test_a_machine_that_is_too_slow_says_nothing_about_the_answer():
    """That error stays what it is: no property is missing, and no grader may take it for a lost point."""
    with pytest.raises(ranks.MachineTooSlowError), check("slow", section="1"):
        raise ranks.MachineTooSlowError("it is too slow")


def test_a_name_that_is_gone_after_a_restart_leads_to_its_cell():
    """Where the cell that checks uses it; one that an answer uses may be misspelt."""
    with pytest.raises(CheckError, match="shards: trial ") as caught, check("shards", section="2"):
        trial  # noqa: B018, F821
    assert caught.value.code == "name.not-defined"

    with pytest.raises(CheckError, match="NameError: name 'half_size'") as caught, check("loss", section="2"):
        half_of(1)
    assert caught.value.code == "answer.raised"


def test_a_name_whose_cell_does_not_compile_leads_to_its_line():
    """Nothing helps but to correct it; of several such cells the last that was run is the one to look at."""
    cells = ["def loss(x)\n    return 1 / x", "n = 1", LOSS.replace("(x):", "(x:"), "import os", CHECK]
    shell = InteractiveShell.instance()
    try:
        for cell in cells:
            with capture_output() as shown:
                shell.run_cell(cell, store_history=True)
    finally:
        InteractiveShell.clear_instance()

    message = " ".join(shown.stdout.split())
    assert "Cell In[3]" in message
    assert "line 3: `def loss(x:`: '(' was never closed [name.not-compiled] → section 2" in message


def half_of(number):
    """Stand for an answer that uses a name of a cell above."""
    return number / half_size  # noqa: F821


def test_an_exception_without_words_is_told():
    """A student's exception whose own text raises is told by its name, and by no exception of the check's."""

    class NoWordsError(Exception):
        def __str__(self):
            raise ValueError("never shown")

    with pytest.raises(NoWordsError), explained({"words": "a hint"}):
        raise NoWordsError
    with pytest.raises(CheckError, match="NoWordsError") as caught, check("loss", section="1"):
        raise NoWordsError
    assert "never shown" not in str(caught.value)


def test_random_inputs_follow_from_entropy_and_order():
    """Seeds that can be read in the notebook count for nothing under a judge, and outside of it they do."""

    def draw(seed):
        return fresh_rng(seed).integers(2**62)

    with repeatable(5):
        first = [draw(1), draw(1), draw(None)]
    with repeatable(5):
        again = [draw(2), draw(None), draw(1)]
    with repeatable(6):
        other = draw(1)

    assert first == again
    assert len({*first, other, draw(1)}) == 5
    assert draw(1) == draw(1)
    assert draw(None) != draw(None)
