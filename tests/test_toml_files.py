"""Whatever a TOML file holds that its dataclass does not describe is an error that names the place."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the loader evaluates annotations
from dataclasses import dataclass
from typing import Annotated, Union

import pytest

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.toml_files import MAY_BE_EMPTY, AtLeast

Scalar = Union[bool, int, float, str]


@dataclass(frozen=True)
class Node:
    """A table inside the file."""

    cores: Annotated[int, AtLeast(1)]
    memory_gb: float = 1.0


@dataclass(frozen=True)
class Site:
    """A file with every kind of value."""

    name: str
    node: Node
    lines: Annotated[tuple[str, ...], MAY_BE_EMPTY]
    defaults: Mapping[str, Scalar]
    nodes: tuple[Node, ...] = ()
    login: bool = False


GOOD = """
name = "example"
lines = ["--exclusive"]
nodes = [{cores = 2, memory_gb = 3}]
login = true
[node]
cores = 4
[defaults]
a = true
b = 2
c = 0.5
d = "x"
"""


@pytest.fixture
def load(tmp_path):
    """Return a function from TOML text to what the loader makes of it."""

    def load_text(text: str) -> Site:
        path = tmp_path / "site.toml"
        path.write_text(text, encoding="utf-8")
        return toml_files.load(Site, path, "example.toml")

    return load_text


def test_a_right_file_becomes_the_dataclass(load):
    """Tables become dataclasses, lists tuples, whole numbers floats where those are asked for; defaults fill gaps."""
    assert load(GOOD) == Site(
        name="example",
        node=Node(cores=4, memory_gb=1.0),
        lines=("--exclusive",),
        defaults={"a": True, "b": 2, "c": 0.5, "d": "x"},
        nodes=(Node(cores=2, memory_gb=3.0),),
        login=True,
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'name = "example"',
            'nam = "example"',
            "example.toml: unknown key(s) ['nam']; allowed are name, node, lines, defaults, nodes, login.",
        ),
        (
            'name = "example"',
            "",
            "example.toml: missing key(s) ['name']; needed are name, node, lines, defaults.",
        ),
        ("cores = 4", "cpu = 4", "example.toml [node]: unknown key(s) ['cpu']; allowed are cores, memory_gb."),
        ("cores = 4", "", "example.toml [node]: missing key(s) ['cores']; needed are cores."),
        (
            "{cores = 2, memory_gb = 3}",
            "{cores = 2, memory = 3}",
            "example.toml [nodes.0]: unknown key(s) ['memory']; allowed are cores, memory_gb.",
        ),
        ("cores = 4", "cores = 0", "example.toml [node]: cores must be at least 1, not 0."),
        ("cores = 4", "cores = true", "example.toml [node]: cores must be a whole number, not True."),
        ("cores = 4", "cores = 4.0", "example.toml [node]: cores must be a whole number, not 4.0."),
        ("cores = 4", 'cores = "4"', "example.toml [node]: cores must be a whole number, not '4'."),
        ("login = true", "login = 1", "example.toml: login must be true or false, not 1."),
        ('name = "example"', 'name = " "', "example.toml: name must not be empty."),
        ('["--exclusive"]', '[""]', "example.toml [lines]: 0 must not be empty."),
        ('["--exclusive"]', '"--exclusive"', "example.toml: lines must be a list, not '--exclusive'."),
        ("[{cores = 2, memory_gb = 3}]", "[]", "example.toml: nodes must not be empty."),
        (
            "c = 0.5",
            "c = [1]",
            "example.toml [defaults]: c must be true or false or a whole number or a number or a text, not [1].",
        ),
        (
            "name =",
            "name = = ",
            "example.toml is not valid TOML: Invalid value (at line 2, column 8).",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(load, old, new, message):
    """The sentence names the file, the table, the key and what is allowed."""
    assert old in GOOD

    with pytest.raises(CourseKitError) as caught:
        load(GOOD.replace(old, new, 1))

    assert str(caught.value) == message


def test_a_list_may_be_empty_where_it_says_so(load):
    """MAY_BE_EMPTY lifts the rule for one field."""
    assert load(GOOD.replace('["--exclusive"]', "[]")).lines == ()


def test_values_that_the_program_gives_may_not_stand_in_the_file(tmp_path):
    """A given field is filled in, and as a key it is unknown."""
    path = tmp_path / "node.toml"
    path.write_text("memory_gb = 2.0", encoding="utf-8")
    assert toml_files.load(Node, path, cores=8) == Node(8, 2.0)

    path.write_text("cores = 2", encoding="utf-8")
    with pytest.raises(CourseKitError, match=r"unknown key\(s\) \['cores'\]; allowed are memory_gb\."):
        toml_files.load(Node, path, cores=8)


def test_a_missing_file_is_named(tmp_path):
    """No traceback for a file that is not there."""
    with pytest.raises(CourseKitError, match=r"^no/such\.toml is missing: write it\.$"):
        toml_files.load(Node, tmp_path / "such.toml", "no/such.toml")
