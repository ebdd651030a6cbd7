"""A hand-in as one file, if students and instructor share no exchange: how it is packed and imported."""
