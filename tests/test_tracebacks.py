"""The student's own lines of a traceback, and TensorFlow's pages without what explains nothing."""

import linecache
import sys
import traceback

import numpy as np
import pytest

from coursekit import tracebacks
from coursekit.drivers.calls import call

CELL = "/tmp/ipykernel_1/2.py"  # noqa: S108  # a name as IPython makes them, of no file
SOURCE = """\
def inner(x):
    return np.linalg.inv(x)

def outer(x):
    try:
        return inner(x)
    except np.linalg.LinAlgError as error:
        raise ValueError("no inverse") from error

def alone(x):
    return inner(x)
"""


@pytest.fixture
def cell(monkeypatch):
    """Return the names that a notebook cell defines."""
    lines = SOURCE.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, CELL, (len(SOURCE), None, lines, CELL))
    names = {"np": np}
    exec(compile(SOURCE, CELL, "exec"), names)  # noqa: S102  # as a notebook does
    return names


def error_of(function, *args):
    """Return what a function raises, called as a driver calls an answer."""
    try:
        call(function, *args)
    except Exception as error:  # noqa: BLE001  # it can be any
        return error
    pytest.fail("nothing was raised")


def test_the_innermost_line_of_the_student_is_told(cell):
    """Neither NumPy's lines nor the driver's: the line of the cell with its number and its code."""
    error = error_of(cell["alone"], np.zeros((2, 2)))

    assert tracebacks.place_below(error, 1) == "2.py, line 2 in inner: `return np.linalg.inv(x)`"
    assert tracebacks.last_place(tracebacks.students_traceback(error)) == tracebacks.place_below(error, 1)
    assert len(traceback.extract_tb(error.__traceback__)) > 4


def test_a_traceback_keeps_the_students_lines_of_all_its_parts(cell):
    """Also those of the exception that was caught before; no line of NumPy or of the kit is there."""
    text = tracebacks.students_traceback(error_of(cell["outer"], np.zeros((2, 2))))

    assert text.count(CELL) == 3
    assert sys.prefix not in text
    assert "calls.py" not in text
    assert "direct cause" in text
    assert text.endswith("ValueError: no inverse")


def test_without_a_line_of_the_student_only_the_kits_are_left_out(monkeypatch):
    """An error in a library that nobody called from a cell still shows where it happened."""
    monkeypatch.setattr(tracebacks, "is_library", lambda _: True)
    text = tracebacks.students_traceback(error_of(np.linalg.inv, np.zeros((2, 2))))

    assert "calls.py" not in text
    assert "linalg.py" in text
    assert tracebacks.last_place(text) == ""


SESSION = f"""Graph execution error:

Detected at node 'Reshape' defined at (most recent call last):
    File "{CELL}", line 2, in inner
Node: 'Reshape'
Too few values.
\t [[{{{{node Reshape}}}}]]

Original stack trace for 'Reshape':
  File "{sys.prefix}/ops.py", line 8, in reshape
"""
TWO_OPERATIONS = """Graph execution error:

2 root error(s) found.
  (0) INVALID_ARGUMENT: Too few values.
\t [[{{node A}}]]
  (1) INVALID_ARGUMENT: Too many values.
\t [[{{node B}}]]
0 successful operations.
"""
LAMBDA = """in user code:


    TypeError: outer_factory.<locals>.inner_factory.<locals>.<lambda>() missing 1 argument
"""
WITHOUT_SOURCE = f"""in user code:

    File "{CELL}", line 2, in inner  *
        {""}

    ValueError: No inverse.
"""
LAYER = """Exception encountered when calling layer 'l' (type L).

{{function_node __wrapped__X}} Too few values [Op:Reshape]

Call arguments received by layer 'l' (type L):
  • x=tf.Tensor(shape=(4, 5))
"""
OPERATION = "Shapes 5 and 3 differ for '{{node l/MatMul}} = MatMul[T=DT_FLOAT](x, y)' with input shapes: [?,5], [3,4]."
DATA_SET = """\
Error in user-defined function passed to MapDataset:7 transformation with iterator: Iterator::Root::Map: No image"""
CAUSES = {
    SESSION: "Too few values.",
    TWO_OPERATIONS: "Too few values.",
    LAMBDA: "<lambda>() missing 1 argument",
    WITHOUT_SOURCE: "No inverse.",
    LAYER: "Too few values",
    OPERATION: "Shapes 5 and 3 differ with input shapes: [?,5], [3,4].",
    DATA_SET: "No image",
    "Incompatible shapes: [3] vs. [2] [Op:AddV2] name: ": "Incompatible shapes: [3] vs. [2]",
}


@pytest.mark.parametrize(("text", "cause"), CAUSES.items())
def test_the_cause_is_what_informs(text, cause):
    """Whatever page TensorFlow or Keras writes, and its names for operations, what went wrong is told alone."""
    assert tracebacks.short_cause(text) == cause


@pytest.mark.usefixtures("cell")
def test_a_page_of_autograph_becomes_its_cause_and_the_students_line():
    """What fails while Keras makes its graph is told with the line of the cell, which its traceback does not have."""
    page = f"""in user code:

    File "{sys.prefix}/keras/training.py", line 1401, in train_function  *
        return step_function(self, iterator)
    File "{CELL}", line 2, in None  **
        lambda a: tf.reshape(a, [7])

    ValueError: Cannot reshape.
"""

    def fail():
        raise ValueError(page)

    text = tracebacks.students_traceback(error_of(fail))

    assert tracebacks.cause_in(page) == "Cannot reshape."
    assert text.splitlines()[-3:] == [
        "ValueError: Cannot reshape.",
        f'    File "{CELL}", line 2, in None  **',
        "        lambda a: tf.reshape(a, [7])",
    ]
    assert tracebacks.last_place(text) == "2.py, line 2 in None: `lambda a: tf.reshape(a, [7])`"


def test_a_place_is_quoted_from_the_text_alone(tmp_path):
    """A rank wrote the text: the file that it names is not read."""
    secret = tmp_path / "secret.py"
    secret.write_text("password\n")

    assert tracebacks.last_place(f'  File "{secret}", line 1, in f\n') == "secret.py, line 1 in f"
