# ruff: noqa: INP001  # Jupyter loads it, nobody imports it
"""What nbgrader's Validate reads in a JupyterLab that has this folder in JUPYTER_CONFIG_PATH."""

from coursekit.labs.points import nbgrader_settings

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # traitlets puts it here
c.merge(nbgrader_settings())
