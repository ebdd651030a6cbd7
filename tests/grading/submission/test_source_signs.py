"""What the text of a cell shows, however its lines end and whatever its characters do to what one sees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from coursekit.grading.submission.source_signs import signs_in


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_characters_that_end_a_line_for_some_hide_nothing(separator):
    """In a comment they end no line of Python's; code below the comment is read as Python reads it."""
    source = f"# a comment{separator}with more\nrun = __import__('os').fork\nimport subprocess"
    assert ("process", "subprocess", 3) in signs_in(source)


def test_magics_are_seen_in_ipythons_lines():
    """IPython ends lines at more characters than Python."""
    assert ("shell", "!ls", 2) in signs_in("x = 1 #\u2028!ls")


@pytest.mark.parametrize(
    ("source", "sign"),
    [
        ("%time os.fork()", ("process", "os.fork", 1)),
        ("x = 1\ny = %timeit -o subprocess.run('ls')", ("process", "subprocess.run", 2)),
        ("%%timeit\nimport ctypes", ("introspection", "ctypes", 2)),
        ("%%python3\nprint()", ("shell", "%%python3", 1)),
        ("/os.fork", ("process", "os.fork", 1)),
        ("os.fork?\nx = 1", ("process", "os.fork", 1)),
    ],
)
def test_what_is_ipython_and_not_python_is_read(source, sign):
    """Magics that run code or programs, calls without parentheses, questions."""
    assert sign in signs_in(source)


def test_signs_do_not_depend_on_luck():
    """Python draws an order of its sets for each process; what is found, and its order, are always the same."""
    code = (
        "import json, sys\nfrom pathlib import Path\nfrom coursekit.grading.submission.source_signs import signs_in\n"
        "print([[*signs_in(path.read_text())] for path in sorted(Path(sys.argv[1]).glob('*.py'))])"
    )
    words = [sys.executable, "-c", code, Path(__file__).parents[2] / "attacks"]
    found = [subprocess.check_output(words, env={"PYTHONHASHSEED": seed}) for seed in "123"]
    assert found[0] == found[1] == found[2]
    assert found[0].count(b"(") > 200


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_numbered_as_python_numbers_them(newline):
    """Whatever system the student's editor ran on."""
    assert list(signs_in(newline.join(["x = 1", "", "import ctypes"]))) == [("introspection", "ctypes", 3)]


@pytest.mark.parametrize(
    ("source", "sign"),
    [
        ("import tempfile\ntempfile._os.fork()", ("process", "tempfile._os.fork", 2)),
        ("from tempfile import _os as other\nother.fork()", ("process", "tempfile._os.fork", 2)),
        ("import tempfile\nother = tempfile._os\nother.fork()", ("process", "tempfile._os.fork", 3)),
        ("import tempfile\n(other := tempfile._os).fork()", ("imports", "tempfile._os", 2)),
        ("mods = [np.os, tf.compat.v1.sys]", ("imports", "tf.compat.v1.sys", 1)),
        ("import os\nother: object = os\nother.fork()", ("process", "os.fork", 3)),
        ("from os import *\nfork()", ("process", "os.fork", 2)),
        ("import tensorflow as tf\ngetattr(tf, 'os').fork()", ("process", "tensorflow.os.fork", 2)),
        ("import os\ngetattr(os, 'fork')()", ("process", "os.fork", 2)),
        ("getattr(np, name)()", ("hidden code", "getattr(…, …)", 1)),
        ("import logging\nlogging.threading.Thread", ("outlives", "logging.threading.Thread", 2)),
        ("np.__dict__['os']", ("introspection", "__dict__", 1)),
    ],
)
def test_modules_that_are_reached_through_others_are_seen(source, sign):
    """By the end of a dotted name, by another name, or by an attribute that is named in a text."""
    assert sign in signs_in(source)


def test_parts_of_honest_libraries_are_no_modules():
    """TensorFlow has parts that are called as modules of Python's."""
    assert list(signs_in("y = tf.signal.fft(x)\nz = np.random.default_rng()")) == []


def test_characters_that_turn_the_direction_are_flagged():
    """What an instructor reads is in another order than what is run."""
    assert [(kind, number) for kind, _, number in signs_in("x = 1\ny = 2 # \u202e3")] == [("text", 2)]
