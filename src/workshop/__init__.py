"""Tools for the kit's authors: they test its tests, measure it, and build its lecture and its book."""
