"""A course folder whose path has a space in it, and a home folder of its own."""

import sys
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

ROOT = Path(__file__).parents[3]
LINKED = ("slurm", "solutions", "labs", "pyproject.toml")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a home folder with nothing of whoever runs the tests."""
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_PATH", "XDG_STATE_HOME", "COURSEKIT_VENV", "COURSEKIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "my home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def course(tmp_path, home, monkeypatch):
    """Return a course folder, and stand in it; it has the environment of these tests."""
    del home
    folder = tmp_path / "my course"
    folder.mkdir()
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    (folder / ".venv").symlink_to(sys.prefix)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def answer_of():
    """A function that starts a kernel as JupyterLab does, runs code in it, stops it, and returns what was printed."""

    def ask(name, code):
        manager, client = start_new_kernel(startup_timeout=600, kernel_name=name)
        said = []
        try:
            client.execute_interactive(code, output_hook=said.append, timeout=600)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        return "".join(one["content"].get("text", "") for one in said)

    return ask
