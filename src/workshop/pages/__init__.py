"""Pages for readers that are generated from the code."""
