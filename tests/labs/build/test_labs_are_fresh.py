"""The repository's own labs: what students open is what the solutions make."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coursekit.labs.build.build import build_release
from coursekit.labs.build.tables import build_tables
from coursekit.labs.lab import find_labs

ROOT = Path(__file__).parents[3]
# Only names, since a lab that cannot be read should fail its test and not the collection of all tests.
LABS = sorted(path.name for path in (ROOT / "solutions").glob("[!._]*") if path.is_dir())


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder but Jupyter's copies: path to content."""
    paths = (path for path in folder.rglob("*") if path.is_file() and ".ipynb_checkpoints" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory) -> Path:
    """Return a copy of the authored files with everything built anew."""
    root = tmp_path_factory.mktemp("course")
    for name in ("solutions", "docs"):
        shutil.copytree(ROOT / name, root / name)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, root)
    build_release(root, find_labs(root))
    build_tables(root)
    return root


@pytest.mark.parametrize("lab", LABS)
def test_a_committed_lab_is_fresh(rebuilt, lab):
    """`coursekit build` would not change a byte of it."""
    assert files(ROOT / "labs" / lab) == files(rebuilt / "labs" / lab)


def test_the_tables_are_fresh_and_nothing_else_is_there(rebuilt):
    """labs/ holds a folder per lab and the overview, and the README shows the same labs."""
    assert sorted(files(ROOT / "labs")) == sorted(files(rebuilt / "labs"))
    assert (ROOT / "labs" / "README.md").read_bytes() == (rebuilt / "labs" / "README.md").read_bytes()
    assert (ROOT / "README.md").read_bytes() == (rebuilt / "README.md").read_bytes()
