"""Pages that are generated from the code."""
