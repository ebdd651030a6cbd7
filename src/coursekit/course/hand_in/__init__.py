"""Pack a hand-in into one file, and import it, if students and instructor share no exchange."""
