"""A hand-in as one file, where students and instructor share no exchange: packed, and imported."""
