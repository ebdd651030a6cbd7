"""Pack a hand-in into one file, and import that file, for courses without an exchange."""
