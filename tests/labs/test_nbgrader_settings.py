"""The settings every course needs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from jupyter_core.paths import jupyter_config_path
from nbgrader.apps import NbGrader
from nbgrader.preprocessors import Execute, IgnorePattern, OverwriteCells

from coursekit.course.nbgrader_config import student_config
from coursekit.labs.nbgrader_settings import nbgrader_settings

ROOT = Path(__file__).parents[2]


def test_nbgrader_takes_every_setting():
    """Each name in the settings is a trait of nbgrader's own class with that value, so that none is a misspelling."""
    config = nbgrader_settings(cell_timeout_s=7)

    assert set(config) == {"Execute", "IgnorePattern", "OverwriteCells"}
    for part in (Execute, IgnorePattern, OverwriteCells):
        configured = part(config=config)
        wanted = dict(config[part.__name__])
        assert {name: getattr(configured, name) for name in wanted} == wanted
    assert config.Execute.timeout == 7


def nbgrader_with(settings, monkeypatch):
    """Return what nbgrader's Validate is configured with, in a server that has these folders in its path."""
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", settings)
    app = NbGrader()
    app.config_file_paths.append(jupyter_config_path())  # as its pages in JupyterLab do
    app.load_config_file()
    return app.config


def test_validate_in_make_lab_has_them(tmp_path, monkeypatch):
    """`make lab` names a folder whose settings nbgrader finds, and keeps what was named before."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "make-env").write_text("#!/bin/sh\n")
    (tmp_path / "tools" / "make-env").chmod(0o755)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    jupyter = tmp_path / ".venv" / "bin" / "jupyter"
    jupyter.write_text('#!/bin/sh\necho "$JUPYTER_CONFIG_PATH"\n')
    jupyter.chmod(0o755)
    shutil.copy(ROOT / "students" / "Makefile", tmp_path)
    environ = {"PATH": os.environ["PATH"], "JUPYTER_CONFIG_PATH": "/before"}
    named = subprocess.run(
        ["make", "lab"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    ).stdout
    first, last = named.strip().split(":")

    assert last == "/before"
    config = nbgrader_with(first.replace(str(tmp_path), str(ROOT)), monkeypatch)
    assert {part: config[part] for part in nbgrader_settings()} == nbgrader_settings()


def test_validate_on_a_hub_has_them(tmp_path, monkeypatch):
    """What students' servers read has the same limits, and needs nothing of this package."""
    text = student_config("course", tmp_path / "exchange")
    (tmp_path / "nbgrader_config.py").write_text(text)
    config = nbgrader_with(str(tmp_path), monkeypatch)

    assert "coursekit" not in text
    assert (config.Execute, config.IgnorePattern) == (nbgrader_settings().Execute, nbgrader_settings().IgnorePattern)
