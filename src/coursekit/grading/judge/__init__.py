"""Points that can be trusted: a student's cells run in a sandbox, the instructor's tests outside, on plain data."""
