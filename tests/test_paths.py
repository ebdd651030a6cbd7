"""The course checkout is found from anywhere inside it."""

import re

import pytest

from coursekit.errors import CourseKitError
from coursekit.paths import closed_to_others, find_root


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch):
    monkeypatch.delenv("COURSEKIT_ROOT", raising=False)


@pytest.fixture
def checkout(tmp_path):
    """Return a folder with what makes a checkout, and a folder deep inside it."""
    (tmp_path / "course" / "solutions" / "01-sgd").mkdir(parents=True)
    (tmp_path / "course" / "pyproject.toml").touch()
    return tmp_path / "course"


def test_the_nearest_checkout_above_is_found(checkout):
    """From the checkout itself or any folder in it, the checkout is found."""
    inner = checkout / "solutions" / "01-sgd"

    assert [find_root(checkout), find_root(inner)] == [checkout, checkout]


def test_the_search_starts_in_the_working_directory(checkout, monkeypatch):
    """Without a start the working directory counts."""
    monkeypatch.chdir(checkout / "solutions")

    assert find_root() == checkout


def test_the_variable_wins(checkout, tmp_path, monkeypatch):
    """COURSEKIT_ROOT names the checkout from outside it."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(checkout))

    assert find_root(tmp_path) == checkout


def test_outside_of_a_checkout_is_an_error(tmp_path):
    """One sentence says where was looked and what to do."""
    message = (
        f"{tmp_path} is not inside a course checkout (a folder with solutions/ and pyproject.toml): "
        "change to yours, or set $COURSEKIT_ROOT to it."
    )

    with pytest.raises(CourseKitError, match=f"^{re.escape(message)}$"):
        find_root(tmp_path)


def test_a_variable_that_names_no_checkout_is_an_error(checkout, tmp_path, monkeypatch):
    """A wrong COURSEKIT_ROOT is not passed over in silence, not even inside a checkout."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(tmp_path))

    with pytest.raises(CourseKitError, match=r"^\$COURSEKIT_ROOT is .* set it to the checkout\.$"):
        find_root(checkout)


def test_a_python_in_a_private_folder_is_told_unless_the_environment_lies_there_too(tmp_path):
    """The outermost folder that keeps others out is named; a link to the program counts as the program."""
    home, course = tmp_path / "home", tmp_path / "course"
    (home / "inner" / "bin").mkdir(parents=True)
    (course / ".venv" / "bin").mkdir(parents=True)
    for folder in (*tmp_path.parents[:2], tmp_path):
        folder.chmod(folder.stat().st_mode | 0o001)  # pytest's own are private
    program, link = home / "inner" / "bin" / "python3", course / ".venv" / "bin" / "python"
    program.touch()
    link.symlink_to(program)
    assert closed_to_others(str(link), str(course / ".venv")) == ""

    (home / "inner").chmod(0o700)
    home.chmod(0o750)

    assert f"{program} lies in {home}," in closed_to_others(str(link), str(course / ".venv"))
    assert closed_to_others(str(link), str(home / ".venv")).endswith(
        f"lies in {home / 'inner'}, which only its owner enters"
    )
