"""What stands in a student's notebook where an answer goes."""

CODE_STUB = 'raise NotImplementedError("your answer goes here")'
TEXT_STUB = "*Your answer goes here.*"
