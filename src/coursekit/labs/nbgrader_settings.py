"""The settings without which nbgrader grades a correct answer wrongly, or never ends."""

from __future__ import annotations

from traitlets.config import Config


def nbgrader_settings(cell_timeout_s: int = 300) -> Config:
    """Return what every course of ours needs from nbgrader, whatever the site.

    Args:
        cell_timeout_s: Seconds that one cell may take before it is interrupted and counts as failed.
    """
    config = Config()

    # nbgrader takes all points from a test cell that printed anything on stderr, and TensorFlow logs there.
    # The step needs both settings, and "." would still miss an empty line.
    config.IgnorePattern.enabled = True
    config.IgnorePattern.pattern = r"\A"  # matches any text

    # nbgrader's 30 seconds are too short for a training run on a busy machine.
    config.Execute.timeout = cell_timeout_s

    # Seconds: kernels start slowly from shared disks.
    config.Execute.startup_timeout = 120
    config.Execute.iopub_timeout = 30

    # A student who deleted a test cell by accident gets it back.
    config.OverwriteCells.add_missing_cells = True
    return config
