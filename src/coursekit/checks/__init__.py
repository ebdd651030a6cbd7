"""Checks of students' answers: each tests a named property, and says what is missing if it does not hold.

The docstring of a function `check_...` states the property that the function requires.
"""

from coursekit.checks.check import CheckError, check, hand_in_report, require

__all__ = ["CheckError", "check", "hand_in_report", "require"]
