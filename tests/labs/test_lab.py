"""Labs are found, described and chosen by name."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.lab import Lab, Resources, find_labs, load_lab, select_labs

ROOT = Path(__file__).parents[2]
LAB_TOML = """
title = "SGD on several ranks"
summary = "One sentence."
minutes = 60
objectives = ["see", "do"]
[resources]
num_ranks = 2
memory_gb = 4
time_limit_min = 20
[small_run]
num_epochs = 100
"""


@pytest.fixture
def root(tmp_path):
    """Return a checkout with three labs."""
    for name in ("02-horovod-sgd", "01-sgd", "10-last"):
        folder = tmp_path / "solutions" / name
        folder.mkdir(parents=True)
        (folder / "lab.toml").write_text(LAB_TOML, encoding="utf-8")
        (folder / f"{name}.py").touch()
    return tmp_path


def names(labs) -> list[str]:
    """Return the names only."""
    return [lab.name for lab in labs]


def test_a_lab_is_its_folder_and_its_toml(root):
    """Every key arrives in the dataclass, the name and folder come from the place."""
    folder = root / "solutions" / "01-sgd"
    lab = load_lab(folder)

    assert lab == Lab(
        name="01-sgd",
        folder=folder,
        title="SGD on several ranks",
        summary="One sentence.",
        minutes=60,
        objectives=("see", "do"),
        resources=Resources(num_ranks=2, memory_gb=4, time_limit_min=20),
        small_run={"num_epochs": 100},
    )
    assert lab.source == folder / "01-sgd.py"


@pytest.mark.parametrize(
    ("old", "new", "table", "code"),
    [
        ("minutes = 60", "minutes = 0", "", "toml.too-small"),
        ('["see", "do"]', "[]", "", "toml.empty"),
        ("num_ranks = 2", "num_rank = 2", r" \[resources\]", "toml.unknown-key"),
        ("minutes = 60", 'minutes = 60\nframework = "jax"', "", "lab.framework"),
        ("minutes = 60", "", "", "toml.missing-key"),
    ],
)
def test_a_wrong_lab_toml_is_refused(root, old, new, table, code):
    """The message names file and table."""
    (root / "solutions" / "01-sgd" / "lab.toml").write_text(LAB_TOML.replace(old, new), encoding="utf-8")

    with pytest.raises(CourseKitError, match=rf"^solutions/01-sgd/lab\.toml{table}: ") as caught:
        find_labs(root)

    assert caught.value.code == code


@pytest.mark.parametrize(("name", "code"), [("lab.toml", "toml.missing"), ("01-sgd.py", "lab.no-source")])
def test_a_folder_without_a_part_is_an_error(root, name, code):
    """Nothing in solutions/ is passed over; the notebook has the folder's name."""
    (root / "solutions" / "01-sgd" / name).rename(root / "solutions" / "01-sgd" / "sgd.py")

    with pytest.raises(CourseKitError, match=rf"^solutions/01-sgd/{name} ") as caught:
        find_labs(root)

    assert caught.value.code == code


def test_a_folder_that_is_no_lab_is_an_error(root):
    """Names are two digits and words; caches and hidden folders do not count."""
    (root / "solutions" / "__pycache__").mkdir()
    (root / "solutions" / ".ipynb_checkpoints").mkdir()
    assert names(find_labs(root)) == ["01-sgd", "02-horovod-sgd", "10-last"]

    (root / "solutions" / "Extra").mkdir()
    with pytest.raises(CourseKitError, match=r"^solutions/Extra .*\[lab\.name\]$"):
        find_labs(root)


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ([], ["01-sgd", "02-horovod-sgd", "10-last"]),
        (["02"], ["02-horovod-sgd"]),
        (["10-last", "01-s", "01-sgd"], ["01-sgd", "10-last"]),
    ],
)
def test_labs_are_chosen_by_name_or_prefix(root, wanted, chosen):
    """No name means all, each lab comes once, in order."""
    assert names(select_labs(root, wanted)) == chosen


@pytest.mark.parametrize(
    ("wanted", "listed", "code"),
    [
        ("3", "01-sgd, 02-horovod-sgd, 10-last", "lab.unknown"),
        ("", "01-sgd, 02-horovod-sgd, 10-last", "lab.unknown"),
        ("0", "01-sgd, 02-horovod-sgd.", "lab.ambiguous"),
    ],
)
def test_an_unclear_name_is_refused(root, wanted, listed, code):
    """The message lists what there is."""
    with pytest.raises(CourseKitError) as caught:
        select_labs(root, [wanted])

    assert (caught.value.code, listed in str(caught.value)) == (code, True)


@pytest.mark.parametrize("lab", [lab.name for lab in find_labs(ROOT)])
def test_what_a_lab_imports_from_the_kit_is_there(lab):
    """Notebooks are written outside of what type checkers read; students keep them while the kit moves on."""
    tree = ast.parse((ROOT / "solutions" / lab / f"{lab}.py").read_text())
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported = [
        (node.module, one.name) for node in statements if node.module.startswith("coursekit") for one in node.names
    ]
    assert imported
    for module, name in imported:
        assert hasattr(import_module(module), name) or import_module(f"{module}.{name}")
