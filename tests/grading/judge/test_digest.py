"""A verdict is taken again only while nothing that decides has changed."""

from __future__ import annotations

import shutil

import pytest

from coursekit.grading.submission.work import kit_digest
from coursekit.paths import PACKAGE


def fresh_digest(package):
    """Return the digest as another process would."""
    kit_digest.cache_clear()
    return kit_digest(package)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the kit's package that may be changed."""
    return shutil.copytree(PACKAGE, tmp_path_factory.mktemp("kit") / PACKAGE.name)


@pytest.mark.parametrize("name", ["way_out.py", "pictures/tensorboard.py", "checks/check.py"])
def test_a_change_of_any_module_that_decides_is_another_kit(name, package):
    """Points come through modules of the floor, too."""
    before = fresh_digest(package)
    assert fresh_digest(package) == before
    with (package / name).open("a") as file:
        file.write("\n")

    assert fresh_digest(package) != before


def test_compiled_modules_are_no_change(package):
    """Python writes them when it runs."""
    before = fresh_digest(package)
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / "text.cpython-310.pyc").write_bytes(b"x")

    assert fresh_digest(package) == before


@pytest.mark.parametrize("name", ["keras", "of-a-later-year"])
def test_another_version_of_any_distribution_is_another_kit(name, package, tmp_path, monkeypatch):
    """Nobody keeps a list of those that decide."""
    before = fresh_digest(package)
    made = tmp_path / f"{name.replace('-', '_')}-99.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 99\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert fresh_digest(package) != before
