# ruff: noqa: INP001  # Jupyter loads it, no module imports it
"""The settings that nbgrader's Validate reads in a JupyterLab if JUPYTER_CONFIG_PATH contains this folder."""

from coursekit.labs.points import nbgrader_settings

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # traitlets puts it here
c.merge(nbgrader_settings())
