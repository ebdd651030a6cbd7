"""Whatever a TOML file holds that its dataclass does not describe is an error that names the place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import pytest

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.toml_files import MAY_BE_EMPTY, AtLeast

Scalar = bool | int | float | str


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


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_right_file_becomes_the_dataclass(load, mark):
    """Tables become dataclasses, lists tuples, whole numbers floats where asked for; Notepad's mark is no fault."""
    assert load(mark + GOOD) == Site(
        name="example",
        node=Node(cores=4, memory_gb=1.0),
        lines=("--exclusive",),
        defaults={"a": True, "b": 2, "c": 0.5, "d": "x"},
        nodes=(Node(cores=2, memory_gb=3.0),),
        login=True,
    )


@pytest.mark.parametrize(
    ("old", "new", "place", "code"),
    [
        ('name = "example"', 'nam = "example"', ": unknown key(s) ['nam']", "toml.unknown-key"),
        ('name = "example"', "", ": missing key(s) ['name']", "toml.missing-key"),
        ("cores = 4", "cpu = 4", " [node]: unknown", "toml.unknown-key"),
        ("{cores = 2, memory_gb = 3}", "{cores = 2, memory = 3}", " [nodes.0]: unknown", "toml.unknown-key"),
        ("cores = 4", "cores = 0", " [node]: cores ", "toml.too-small"),
        ("cores = 4", "cores = true", " [node]: cores ", "toml.type"),
        ("cores = 4", "cores = 4.0", " [node]: cores ", "toml.type"),
        ("login = true", "login = 1", ": login ", "toml.type"),
        ('name = "example"', 'name = " "', ": name ", "toml.empty"),
        ('["--exclusive"]', '[""]', " [lines]: 0 ", "toml.empty"),
        ('["--exclusive"]', '"--exclusive"', ": lines ", "toml.type"),
        ("[{cores = 2, memory_gb = 3}]", "[]", ": nodes ", "toml.empty"),
        ("c = 0.5", "c = [1]", " [defaults]: c ", "toml.type"),
        ("name =", "name = = ", " ", "toml.not-valid"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(load, old, new, place, code):
    """The message names the file, the table and the key."""
    assert old in GOOD

    with pytest.raises(CourseKitError) as caught:
        load(GOOD.replace(old, new, 1))

    assert str(caught.value).startswith(f"example.toml{place}")
    assert (caught.value.code, "\n" in str(caught.value)) == (code, False)


def test_a_list_may_be_empty_where_it_says_so(load):
    """MAY_BE_EMPTY lifts the rule for one field."""
    assert load(GOOD.replace('["--exclusive"]', "[]")).lines == ()


def test_values_that_the_program_gives_may_not_stand_in_the_file(tmp_path):
    """A given field is filled in, and as a key it is unknown."""
    path = tmp_path / "node.toml"
    path.write_text("memory_gb = 2.0", encoding="utf-8")
    assert toml_files.load(Node, path, cores=8) == Node(8, 2.0)

    path.write_text("cores = 2", encoding="utf-8")
    with pytest.raises(CourseKitError, match=r"'cores'.*\[toml\.unknown-key\]"):
        toml_files.load(Node, path, cores=8)


def test_a_missing_file_is_named(tmp_path):
    """No traceback for a file that is not there."""
    with pytest.raises(CourseKitError, match=r"^no/such\.toml .*\[toml\.missing\]$"):
        toml_files.load(Node, tmp_path / "such.toml", "no/such.toml")
