"""Checks of students' answers: each one holds a named property and says what is missing when it does not."""

from coursekit.checks.check import CheckError, check, hand_in_report, require

__all__ = ["CheckError", "check", "hand_in_report", "require"]
