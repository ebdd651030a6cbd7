"""The settings every course needs."""

from __future__ import annotations

from nbgrader.preprocessors import Execute, IgnorePattern, OverwriteCells

from coursekit.labs.nbgrader_settings import nbgrader_settings


def test_nbgrader_takes_every_setting():
    """Each name in the settings is a trait of nbgrader's own class with that value, so that none is a misspelling."""
    config = nbgrader_settings(cell_timeout_s=7)

    assert set(config) == {"Execute", "IgnorePattern", "OverwriteCells"}
    for part in (Execute, IgnorePattern, OverwriteCells):
        configured = part(config=config)
        wanted = dict(config[part.__name__])
        assert {name: getattr(configured, name) for name in wanted} == wanted
    assert config.Execute.timeout == 7


def test_every_caller_gets_its_own():
    """Changing one configuration leaves the next one as it was."""
    nbgrader_settings().Execute.timeout = 1

    assert nbgrader_settings().Execute.timeout == 300
