"""The one error that users see as a sentence instead of a traceback."""


class CourseKitError(Exception):
    """Something the user can mend: the message says what was wrong, where, and what to do."""
