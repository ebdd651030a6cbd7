# ruff: noqa: INP001  # Jupyter loads it, no module imports it
"""The settings for nbgrader's Validate button, in each JupyterLab whose JUPYTER_CONFIG_PATH contains this folder."""

from coursekit.labs.points import nbgrader_settings

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # traitlets puts it here
c.merge(nbgrader_settings())
