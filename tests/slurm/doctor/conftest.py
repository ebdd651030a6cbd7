"""A folder of small programs to put on the PATH, as for the tests of `tools/`."""

from ...tools.conftest import programs

__all__ = ["programs"]
