"""Isolation of code that nobody has read yet: what it sees, what it may use, and how it ends."""
